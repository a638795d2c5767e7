// A sound database that cannot be used now ends a command with 6, not with 4 and a damaged file.

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/store.hpp"
#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
using tool::Folder;

/// A program that is killed in the middle of a transaction in rollback mode.
void leave_half_a_transaction(const std::filesystem::path& file) {
  const pid_t other = fork();
  if (other == 0) {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    database.exec(
        "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA synchronous = OFF; "
        "BEGIN EXCLUSIVE; DELETE FROM winners; UPDATE measurements SET probe = probe || 'x'");
    raise(SIGKILL);
  }
  waitpid(other, nullptr, 0);
}

TEST(UnusableDatabase, half_a_transaction_of_another_program_is_neither_read_nor_judged) {
  const Folder folder;
  const std::string problem = " --problem gemm_all_reduce:256,2048,1024:bf16:2";
  const std::string tune =
      "tune --db f.db --machine sim:rtx4090-pcie-x4 --quick-probe --top-k 1" + problem;
  ASSERT_EQ(tool::run(folder, tune).status, 0);
  const tool::Outcome before = tool::run(folder, "db export --db f.db");
  leave_half_a_transaction(folder / "f.db");
  const std::vector<std::string> commands{"db check --db f.db",        "db repair --db f.db",
                                          "db export --db f.db",       "db info --db f.db",
                                          "query --db f.db" + problem, tune,
                                          "db merge --db new.db f.db"};
  for (const std::string& command : commands) {
    const tool::Outcome outcome = tool::run(folder, command);
    EXPECT_EQ(outcome.status, 6) << command << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("f.db-journal"));
    EXPECT_EQ(outcome.out, "") << command;
  }
  SQLite::Database((folder / "f.db").string(), SQLite::OPEN_READWRITE)
      .exec("SELECT 1 FROM sqlite_schema");  // the advice of the message
  EXPECT_EQ(tool::run(folder, "db export --db f.db").out, before.out);
  EXPECT_EQ(tool::run(folder, "db check --db f.db").status, 0);
}

/// Somebody cleans the folder, and only then the program has its results.
TEST(UnusableDatabase, a_tune_whose_file_goes_says_so_and_keeps_what_it_measured) {
  const Folder folder;
  tool::Process tune(folder,
                     {"tune", "--machine", "sim:rtx4090-pcie-x4", "--db", "u.db", "--quick-probe",
                      "--explore", "300", "--problem", "gemm_all_reduce:4k,4k,1k:bf16:4"});
  const auto candidates = [&] {
    try {
      return Store(folder / "u.db", Access::read).info().candidates;
    } catch (const Failure&) {
      return std::int64_t{0};  // not made yet
    }
  };
  while (tune.is_running() && candidates() < 5) tool::pause(std::chrono::milliseconds(5));
  for (const char* name : {"u.db", "u.db-wal", "u.db-shm"}) {
    std::filesystem::remove(folder / name);
  }
  const tool::Outcome outcome = tune.wait();
  EXPECT_EQ(outcome.status, 6) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("was removed or replaced while it was in use"));
  const auto left = folder.entries();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_THAT(left.front(), testing::StartsWith("u.db.rescued-"));
  EXPECT_THAT(outcome.err, HasSubstr(left.front()));
  const Store kept(folder / left.front(), Access::read);
  EXPECT_GE(kept.info().candidates, 5);
  EXPECT_TRUE(kept.check().empty());
}

}  // namespace
}  // namespace overlaptune
