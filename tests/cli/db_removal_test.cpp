// `overlaptune db prune` and `db delete`, on a database that is made by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/store.hpp"
#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using tool::Folder;

const std::string kProblem = "gemm_all_reduce:4096,4096,1024:bf16:4";

class DbRemoval : public testing::Test {
 protected:
  void SetUp() override {
    Store store(folder_ / "f.db", Access::create);
    const auto platform = store.add_platform({.machine = "sim", .name = "four", .gpu_count = 4});
    for (const char* day : {"2026-01-01", "2026-01-02", "2026-01-03"}) {
      const auto run =
          store.begin_probe_run(platform, {.started_at = std::string(day) + "T00:00:00.000Z"});
      store.add_measurement(
          run, {.probe = LaunchProbe{LaunchCost::graph_replay}, .time = {us(2), us(1), us(3), 9}});
    }
    const auto run = store.begin_tuning_run(platform, "tune", {});
    store.add_candidate(run, {.problem = value_or_throw(parse_problem(kProblem)),
                              .origin = Origin::baseline,
                              .predicted = us(90),
                              .measured = Summary{us(100), us(99), us(102), 24}});
  }
  [[nodiscard]] json info() const { return tool::json(folder_, "db info --db f.db"); }

  [[nodiscard]] int copies() const {
    int count = 0;
    for (const std::string& name : folder_.entries()) {
      count += name.find("before-delete") == name.npos ? 0 : 1;
    }
    return count;
  }

  Folder folder_;
};

TEST_F(DbRemoval, prune_says_what_would_go_and_then_removes_it) {
  const auto bytes = tool::content(folder_ / "f.db");
  const json dry = tool::json(folder_, "db prune --db f.db --keep 2 --dry-run");
  ASSERT_EQ(dry.at("removed").size(), 1U);
  EXPECT_EQ(dry.at("removed").at(0).at("started_at"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(dry.at("removed").at(0).at("platform"), "sim:four");
  EXPECT_EQ(dry.at("runs_left"), 3);
  EXPECT_EQ(tool::content(folder_ / "f.db"), bytes);
  EXPECT_EQ(tool::json(folder_, "db prune --db f.db --keep 2").at("removed"), dry.at("removed"));
  EXPECT_EQ(info().at("stored_runs").size(), 3U);
  // The newest measurement stays, however old it is.
  EXPECT_THAT(tool::run(folder_, "db prune --db f.db --before 2030-01-01").out,
              HasSubstr("f.db: 2 runs removed, 1 left"));
  EXPECT_EQ(info().at("measurements"), 1);
  EXPECT_EQ(tool::run(folder_, "db check --db f.db").status, 0);
}

TEST_F(DbRemoval, delete_asks_first_and_keeps_a_copy) {
  const tool::Outcome asked = tool::run(folder_, "db delete --db f.db --problem " + kProblem);
  EXPECT_EQ(asked.status, 2);
  EXPECT_EQ(asked.err,
            "overlaptune: f.db: nothing is removed without --yes; with it: problems: 1 removed, 0 "
            "left; candidates: 1 removed, 0 left\n");
  EXPECT_EQ(copies(), 0);
  EXPECT_EQ(info().at("candidates"), 1);
  const json done = tool::json(folder_, "db delete --db f.db --yes --problem " + kProblem);
  EXPECT_EQ(info().at("candidates"), 0);
  EXPECT_EQ(copies(), 1);
  const std::string copy = done.at("copy");
  EXPECT_THAT(copy, HasSubstr("f.db.before-delete-"));
  EXPECT_EQ(tool::json(folder_, "db info --db " + copy).at("candidates"), 1);
  EXPECT_EQ(tool::run(folder_, "db check --db f.db").status, 0);
}

TEST_F(DbRemoval, delete_takes_a_platform_or_a_run) {
  const std::string uid = info().at("stored_runs").at(0).at("run");
  EXPECT_EQ(tool::run(folder_, "db delete --db f.db --yes --run " + uid.substr(0, 12)).status, 0);
  EXPECT_EQ(info().at("measurements"), 2);
  const tool::Outcome done = tool::run(folder_, "db delete --db f.db --yes --platform sim:four");
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.out, HasSubstr("platforms: 1 removed, 0 left\n"));
  EXPECT_EQ(info().at("tuning_runs"), 0);
  EXPECT_EQ(info().at("problems"), 0);
}

TEST_F(DbRemoval, what_is_not_there_or_not_clear_is_refused) {
  const json before = info();
  const std::pair<const char*, const char*> cases[] = {
      {"prune --db f.db", "expected --before DATE or --keep N"},
      {"prune --db f.db --before soon", "'soon': expected a date in UTC, as in 2026-11-01"},
      {"prune --db f.db --before 2026-13-01", "expected a date"},
      {"prune --db f.db --keep -1", "expected a whole number"},
      {"delete --db f.db --yes", "expected one of --platform NAME, --run UID and --problem"},
      {"delete --db f.db --yes --run 1 --platform four", "expected one of --platform NAME"},
      {"delete --db f.db --yes --run nowhere", "run 'nowhere': not stored; `overlaptune db info`"},
      {"delete --db f.db --yes --platform five", "platform 'five': not stored"},
      {"delete --db f.db --yes --problem gemm_all_reduce:8,8,8:bf16:4", ": not stored"}};
  for (const auto& [command, words] : cases) {
    const tool::Outcome outcome = tool::run(folder_, std::string("db ") + command);
    EXPECT_EQ(outcome.status, 2) << command;
    EXPECT_EQ(outcome.out, "") << command;
    EXPECT_THAT(outcome.err, HasSubstr(words));
  }
  EXPECT_EQ(info(), before);
  EXPECT_EQ(copies(), 0);
}

}  // namespace
}  // namespace overlaptune
