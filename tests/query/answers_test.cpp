// Exact answers, in one database and in several.

#include <cmath>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stored.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(AnswersTest, AnExactAnswerIsTheStoredWinner) {
  const samples::Folder folder;
  stored::put_winners(folder / "a.db", 3000);
  const ovt::Database database({folder / "a.db"});
  for (int i = 0; i < 3000; ++i) {
    const ovt_answer answer = database.query(stored::problem(i + 1));
    const Winner expected = stored::winner(i);
    ASSERT_EQ(answer.source, OVT_EXACT) << i;
    ASSERT_EQ(answer.strategy, OVT_SIGNALED);
    ASSERT_EQ(answer.predicted_us, expected.candidate.predicted.count());
    ASSERT_EQ(answer.measured_us, expected.candidate.measured->median.count());
    ASSERT_EQ(answer.baseline_us, expected.sequential.count());
    ASSERT_THAT(ovt::wave_groups(answer), ElementsAre(i + 1, 1001, 7190 - i));
  }
  const ovt_answer answer = database.query(stored::problem());
  EXPECT_EQ(answer.block_m, 16384);
  EXPECT_EQ(answer.block_n, 1);
  EXPECT_EQ(answer.block_k, 64);
  EXPECT_EQ(answer.stages, 4);
  EXPECT_EQ(answer.cluster, 2);
  EXPECT_EQ(answer.raster, 8);
  EXPECT_EQ(answer.comm_ctas, 16);
  EXPECT_EQ(answer.chunks, 1);
  EXPECT_EQ(answer.transport, OVT_TRANSPORT_RING);
  EXPECT_EQ(answer.wait, OVT_WAIT_DRIVER);
  EXPECT_EQ(answer.reserved, 0);
  EXPECT_THAT(answer.reason, StartsWith("validated on h200-nvlink-x8 at 2"));
}

TEST(AnswersTest, EveryPartOfTheQuestionCounts) {
  const samples::Folder folder;
  stored::put_winners(folder / "a.db", 1);
  const ovt::Database database({folder / "a.db"});
  const auto source = [&](auto change, ovt_launch launch = OVT_GRAPH) {
    ovt_problem problem = stored::problem();
    change(problem);
    return database.query(problem, launch).source;
  };
  EXPECT_EQ(source([](auto&) {}), OVT_EXACT);
  EXPECT_EQ(source([](auto&) {}, OVT_EAGER), OVT_BASELINE);
  EXPECT_EQ(source([](auto& p) { p.m = 2; }), OVT_BASELINE);
  EXPECT_EQ(source([](auto& p) { p.n = 8200; }), OVT_BASELINE);
  EXPECT_EQ(source([](auto& p) { p.k = 3592; }), OVT_BASELINE);
  EXPECT_EQ(source([](auto& p) { p.dtype = OVT_FP16; }), OVT_BASELINE);
  EXPECT_EQ(source([](auto& p) { p.ranks = 4; }), OVT_BASELINE);
}

/// What once was a transport of the op may be in a database still; nobody can run it.
TEST(AnswersTest, AWinnerThatNoLongerServesIsNone) {
  const samples::Folder folder;
  const auto file = folder / "a.db";
  {
    Store store(file, Access::create);
    const auto run = store.begin_tuning_run(store.add_platform(stored::platform()), "test", {});
    Winner made = stored::winner(0);
    made.candidate.config.transport = Transport::copy_engine;  // adds up nothing
    store.put_winner(run, made);
    store.put_winner(run, stored::winner(1));
  }
  const ovt::Database database({file});
  EXPECT_EQ(database.query(stored::problem(1)).source, OVT_BASELINE);
  EXPECT_EQ(database.query(stored::problem(2)).source, OVT_EXACT);
}

TEST(AnswersTest, TheWaitIsPartOfTheAnswer) {
  const samples::Folder folder;
  const auto file = folder / "a.db";
  {
    Store store(file, Access::create);
    const auto run = store.begin_tuning_run(store.add_platform(stored::platform()), "test", {});
    Winner made = stored::winner(0);
    made.candidate.config.wait = Wait::kernel;
    store.put_winner(run, made);
  }
  const ovt::Database database({file});
  EXPECT_EQ(database.query(stored::problem()).wait, OVT_WAIT_KERNEL);
  EXPECT_THAT(database.explain(stored::problem()), HasSubstr(" wait=kernel groups="));
}

TEST(AnswersTest, WithoutProbesTheBaselineSaysSo) {
  const samples::Folder folder;
  stored::put_winners(folder / "a.db", 1);
  const ovt::Database database({folder / "a.db"});
  const ovt_answer answer = database.query(stored::problem(2));
  EXPECT_EQ(answer.source, OVT_BASELINE);
  EXPECT_EQ(answer.strategy, OVT_SEQUENTIAL);
  EXPECT_EQ(answer.block_m, 0);
  EXPECT_EQ(answer.chunks, 1);
  EXPECT_EQ(answer.wave_group_count, 0);
  EXPECT_TRUE(std::isnan(answer.predicted_us));
  EXPECT_TRUE(std::isnan(answer.measured_us));
  EXPECT_TRUE(std::isnan(answer.baseline_us));
  EXPECT_THAT(answer.reason, HasSubstr("no winner is stored"));
  EXPECT_THAT(answer.reason, HasSubstr("the model has no prediction"));
}

TEST(AnswersTest, AUsersOwnDatabaseHidesTheSystemsWhereBothKnow) {
  const samples::Folder folder;
  stored::put_winners(folder / "own.db", 2, 1);
  stored::put_winners(folder / "system.db", 4, 2);
  const ovt::Database database({folder / "own.db", folder / "system.db"});
  EXPECT_EQ(ovt::wave_groups(database.query(stored::problem(2)))[1], 1001);
  EXPECT_EQ(ovt::wave_groups(database.query(stored::problem(3)))[1], 1002);
  EXPECT_EQ(database.query(stored::problem(5)).source, OVT_BASELINE);
  const std::string text = database.explain(stored::problem(3));
  EXPECT_LT(text.find("own.db"), text.find("system.db"));
  EXPECT_THAT(text, HasSubstr("winners: 4\n"));
}

TEST(AnswersTest, TheEnvironmentNamesTheDatabaseWhereTheCallerDoesNot) {
  const samples::Folder folder;
  stored::put_winners(folder / "a.db", 1);
  setenv("OVERLAPTUNE_DB", (folder / "a.db").c_str(), 1);
  EXPECT_EQ(ovt::Database().query(stored::problem()).source, OVT_EXACT);
  unsetenv("OVERLAPTUNE_DB");
  try {
    const ovt::Database none;
    FAIL() << "opened without a name";
  } catch (const ovt::Error& error) {
    EXPECT_EQ(error.status(), OVT_ERROR_NOT_FOUND);
    EXPECT_THAT(error.what(), HasSubstr("OVERLAPTUNE_DB"));
  }
}

}  // namespace
}  // namespace overlaptune
