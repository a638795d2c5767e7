// A file that others remove, replace or overwrite while it is open for writing: the writer notices
// before its next commit, keeps what it can in another file, and does no harm to what took the
// name.

#include <functional>
#include <string_view>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "db/impl.hpp"
#include "processes.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

namespace fs = std::filesystem;
using samples::failure;
using samples::Generator;
using ::testing::HasSubstr;

class LostFileTest : public testing::Test {
 protected:
  LostFileTest() {
    {
      Store store(file_, Access::create);
      samples::fill(store, 9, 40);
    }
    fs::copy_file(file_, copy_);
    store_.emplace(file_, Access::write);
    samples::fill(*store_, 10, 40);
    run_ = store_->last_tuning_run(store_->platforms().back().id)->id;
  }

  /// Adds a candidate, which must fail. The name of the file that the message tells.
  fs::path rescued() {
    candidate_.config = samples::numbered_config(77);
    const auto add = [&] { store_->add_candidate(run_, candidate_); };
    const std::string said = failure(ErrorKind::cannot_write, add);
    EXPECT_EQ(failure(ErrorKind::cannot_write, add), said);
    EXPECT_EQ(failure(ErrorKind::cannot_write, [&] { store_->confirm_place(); }), said);
    const auto from = said.find(file_.string() + ".rescued-");
    EXPECT_NE(from, said.npos) << said;
    return from == said.npos ? "" : said.substr(from, said.find('\'', from) - from);
  }

  /// The file has nothing of the writer beside it, and is what it was.
  void expect_untouched(const std::string& bytes) {
    store_.reset();
    for (const char* suffix : {"-wal", "-shm"}) EXPECT_FALSE(fs::exists(file_.string() + suffix));
    EXPECT_EQ(samples::read_bytes(file_), bytes);
    EXPECT_TRUE(Store(file_, Access::write).check().empty());
  }

  /// The rows of the writer, with the candidate that it could not add.
  void expect_complete(const fs::path& place, std::int64_t candidates) {
    const Store kept(place, Access::read);
    EXPECT_TRUE(kept.check().empty());
    EXPECT_EQ(kept.info().candidates, candidates + 1);
    EXPECT_EQ(kept.info().measurements, 4 * 40 - duplicates_);
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_ / "f.db";
  fs::path copy_ = folder_ / "copy.db";
  std::optional<Store> store_;
  TuningRunId run_ = 0;
  Candidate candidate_ = Generator(5).candidate();
  std::int64_t duplicates_ = 0;
};

TEST_F(LostFileTest, Removed) {
  const DatabaseInfo before = store_->info();
  duplicates_ = 4 * 40 - before.measurements;
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(file_.string() + suffix);
  expect_complete(rescued(), before.candidates);
  store_.reset();
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_FALSE(fs::exists(file_.string() + "-wal"));
}

TEST_F(LostFileTest, ReplacedByAnother) {
  const DatabaseInfo before = store_->info();
  duplicates_ = 4 * 40 - before.measurements;
  const std::string bytes = samples::read_bytes(copy_);
  fs::rename(copy_, file_);
  expect_complete(rescued(), before.candidates);
  expect_untouched(bytes);
}

TEST_F(LostFileTest, WithoutItsLog) {
  const DatabaseInfo before = store_->info();
  duplicates_ = 4 * 40 - before.measurements;
  fs::remove(file_.string() + "-wal");
  expect_complete(rescued(), before.candidates);
}

/// Copies into the file as it stands: `cp` keeps the inode, too.
TEST_F(LostFileTest, OverwrittenByAnOlderCopy) {
  // Without this, all rows are still in the log.
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(RESTART)");
  candidate_.config = samples::numbered_config(76);
  store_->add_candidate(run_, candidate_);
  const std::string bytes = samples::read_bytes(copy_);
  samples::write_bytes(file_, bytes);
  EXPECT_THROW(store_->confirm_place(), Failure);  // counts the rows, whenever it last did
  const Store kept(rescued(), Access::read);
  EXPECT_TRUE(kept.check().empty());
  expect_untouched(bytes);
}

TEST_F(LostFileTest, CutShort) {
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(RESTART)");
  fs::resize_file(file_, 0);
  candidate_.config = samples::numbered_config(76);
  EXPECT_THAT(failure(ErrorKind::cannot_write, [&] { store_->confirm_place(); }),
              HasSubstr("written over while it was in use"));
}

/// Calls `*static_cast<std::function<void()>*>(work)` before the candidates are counted.
int before_count(unsigned /*event*/, void* work, void* statement, void* /*text*/) {
  const std::string_view sql = sqlite3_sql(static_cast<sqlite3_stmt*>(statement));
  if (sql.starts_with("SELECT count(*), coalesce") && sql.find("FROM candidates") != sql.npos) {
    (*static_cast<std::function<void()>*>(work))();
  }
  return 0;
}

/// The rows are then counted without the lock of a writer.
TEST_F(LostFileTest, AChangeThatFailsWhileAnotherWritesIsNoLoss) {
  store_->confirm_place();
  Store other(file_, Access::write);
  int added = 0;
  std::function<void()> add = [&] {
    candidate_.config = samples::numbered_config(++added);
    other.add_candidate(run_, candidate_);
  };
  sqlite3* const handle = store_->impl().connection->database().getHandle();
  sqlite3_trace_v2(handle, SQLITE_TRACE_STMT, before_count, &add);
  (void)failure(ErrorKind::bad_input, [&] { (void)store_->begin_tuning_run(-1, "none", {}); });
  sqlite3_trace_v2(handle, 0, nullptr, nullptr);
  EXPECT_GT(added, 0);
  store_->confirm_place();
  EXPECT_TRUE(store_->check().empty());
}

TEST_F(LostFileTest, OthersMayWriteAndCheckpointAllTheSame) {
  Store other(file_, Access::write);
  for (int i = 1; i < 40; ++i) {
    candidate_.config = samples::numbered_config(i);
    (i % 2 == 0 ? other : *store_).add_candidate(run_, candidate_);
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE)
        .exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  (void)other.prune({.keep = 1});
  store_->confirm_place();
  EXPECT_TRUE(store_->check().empty());
}

}  // namespace
}  // namespace overlaptune
