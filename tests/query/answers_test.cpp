// Exact answers, in one database and in several.

#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(AnswersTest, AnExactAnswerIsTheStoredWinner) {
  const TemporaryFolder folder;
  stored::put_winners(folder / "a.db", 3000);
  const ovt::Database database({folder / "a.db"});
  for (int i = 0; i < 3000; ++i) {
    const ovt_answer answer = database.query(stored::problem(i + 1));
    const Winner expected = stored::winner(i);
    ASSERT_EQ(answer.source, OVT_EXACT) << i;
    ASSERT_EQ(stored::config(answer), expected.candidate.config);
    ASSERT_STREQ(answer.strategy, "signaled");
    ASSERT_EQ(answer.predicted_us, expected.candidate.predicted.count());
    ASSERT_EQ(answer.measured_us, expected.candidate.measured->median.count());
    ASSERT_EQ(answer.baseline_us, expected.sequential.count());
  }
  const ovt_answer answer = database.query(stored::problem());
  EXPECT_STREQ(answer.config,
               "signaled tile=256x16x64 stages=4 cluster=2 swizzle=64 ctas=16 transport=ring "
               "groups=1,1001,7190");
  EXPECT_STREQ(answer.transport, "ring");
  EXPECT_EQ(answer.reserved, 0);
  EXPECT_THAT(answer.reason, StartsWith("validated on cuda:h200-nvlink-x8 at 2"));
}

TEST(AnswersTest, EveryPartOfTheQuestionCounts) {
  const TemporaryFolder folder;
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
  EXPECT_EQ(source([](auto& p) { p.n += 8; }), OVT_BASELINE);
  EXPECT_EQ(source([](auto& p) { p.k = 3592; }), OVT_BASELINE);
  EXPECT_EQ(source([](auto& p) { p.dtype = OVT_FP16; }), OVT_BASELINE);
  EXPECT_EQ(source([](auto& p) { p.ranks = 4; }), OVT_BASELINE);
}

/// A winner for the platform of `stored`, with a change that the test makes.
Winner changed(int i, const std::function<void(Winner&)>& change) {
  Winner winner = stored::winner(i);
  change(winner);
  return winner;
}

/// Its config, which is `signaled`.
Signaled& signaled(Winner& winner) {
  return std::get<Signaled>(winner.candidate.config);
}

/// A database may still have a winner of an older program, or of another platform, that cannot run
/// here.
TEST(AnswersTest, AWinnerThatThePlatformCannotRunIsNone) {
  const std::int64_t all_columns = stored::kColumns;
  const std::pair<const char*, std::function<void(Winner&)>> cases[] = {
      {"symmetric windows exchange nothing",
       [](Winner& winner) {
         winner.candidate.problem.op = Op::gemm_all_to_all;
         winner.candidate.problem.m = 8;
         signaled(winner).transport = all_groups_by(Transport::symmetric);
         for (auto& group : signaled(winner).wave_groups) group *= 8;
       }},
      {"the same of chunked",
       [](Winner& winner) {
         winner.candidate.problem.op = Op::gemm_all_to_all;
         winner.candidate.problem.m = 8;
         winner.candidate.config = Chunked{.comm_ctas = 8, .transport = Transport::symmetric};
       }},
      {"copy engines add up nothing",
       [=](Winner& winner) {
         signaled(winner).transport = all_groups_by(Transport::copy_engine);
         signaled(winner).wave_groups = {all_columns};
       }},
      {"a tile that does not fit", [](Winner& winner) { signaled(winner).tile.stages = 8; }},
      {"more CTAs than SMs", [](Winner& winner) { signaled(winner).comm_ctas = 132; }},
      {"more ranks than GPUs", [](Winner& winner) { winner.candidate.problem.ranks = 16; }}};
  for (const auto& [what, change] : cases) {
    const TemporaryFolder folder;
    const Winner none = changed(0, change);
    stored::put_winners(folder / "a.db", {none, stored::winner(1)});
    const ovt::Database database({folder / "a.db"});
    const Problem& problem = none.candidate.problem;
    const ovt_answer answer = database.query(ovt::problem(
        static_cast<ovt_op>(problem.op), problem.m, problem.n, problem.k, OVT_BF16, problem.ranks));
    EXPECT_EQ(answer.source, OVT_BASELINE) << what;
    EXPECT_STREQ(answer.strategy, "sequential") << what;
    EXPECT_EQ(database.query(stored::problem(2)).source, OVT_EXACT) << what;
  }
}

TEST(AnswersTest, AWinnerOfEveryStrategyIsAnswered) {
  const TemporaryFolder folder;
  const auto with = [](int i, Config config) {
    return changed(i, [&](Winner& winner) { winner.candidate.config = std::move(config); });
  };
  Winner exchanged = changed(4, [](Winner& winner) {
    winner.candidate.problem.op = Op::gemm_all_to_all;
    winner.candidate.problem.m = 8;
    signaled(winner).transport = all_groups_by(Transport::copy_engine);
    signaled(winner).wave_groups = {8 * stored::kColumns};
  });
  stored::put_winners(
      folder / "a.db",
      {with(0, Sequential{.comm_ctas = 4, .transport = Transport::symmetric}),
       with(1, Chunked{.comm_ctas = 8, .chunks = 2}), stored::winner(2),
       changed(3, [](Winner& winner) { signaled(winner).transport = kSymmetricThenRing; }),
       exchanged, with(5, Chunked{.comm_ctas = 9, .transport = Transport::symmetric})});
  const ovt::Database database({folder / "a.db"});
  const ovt_answer sequential = database.query(stored::problem(1));
  EXPECT_EQ(sequential.source, OVT_EXACT);
  EXPECT_STREQ(sequential.config, "sequential ctas=4 transport=symmetric");
  EXPECT_STREQ(sequential.strategy, "sequential");
  EXPECT_STREQ(sequential.transport, "symmetric");
  const ovt_answer chunked = database.query(stored::problem(2));
  EXPECT_STREQ(chunked.config, "chunked ctas=8 transport=ring chunks=2");
  EXPECT_STREQ(chunked.strategy, "chunked");
  EXPECT_STREQ(database.query(stored::problem(3)).strategy, "signaled");
  EXPECT_THAT(stored::wave_groups(database.query(stored::problem(3))), ElementsAre(3, 1001, 7188));
  EXPECT_STREQ(database.query(stored::problem(4)).transport, "symmetric_then_ring");
  EXPECT_THAT(stored::wave_groups(database.query(stored::problem(4))), ElementsAre(4, 1001, 7187));
  const ovt_answer copies =
      database.query(ovt::problem(OVT_GEMM_ALL_TO_ALL, 8, stored::kN, 3584, OVT_BF16, 8));
  EXPECT_EQ(copies.source, OVT_EXACT);
  EXPECT_STREQ(copies.transport, "copy_engine");
  EXPECT_THAT(stored::wave_groups(copies), ElementsAre(8 * stored::kColumns));
  EXPECT_STREQ(database.query(stored::problem(6)).config, "chunked ctas=9 transport=symmetric");
  EXPECT_THAT(database.explain(stored::problem(2)),
              HasSubstr("chunked ctas=8 transport=ring chunks=2"));
  EXPECT_THAT(database.explain(stored::problem(3)), HasSubstr(" groups=3,1001,7188\n"));
}

TEST(AnswersTest, TheWaitIsPartOfTheAnswer) {
  const TemporaryFolder folder;
  const auto file = folder / "a.db";
  stored::put_winners(file,
                      {changed(0, [](Winner& winner) { signaled(winner).wait = Wait::kernel; })});
  const ovt::Database database({file});
  EXPECT_THAT(database.query(stored::problem()).config, HasSubstr(" wait=kernel groups="));
  EXPECT_THAT(database.explain(stored::problem()), HasSubstr(" wait=kernel groups="));
}

TEST(AnswersTest, WithoutProbesTheBaselineSaysSo) {
  const TemporaryFolder folder;
  stored::put_winners(folder / "a.db", 1);
  const ovt::Database database({folder / "a.db"});
  const ovt_answer answer = database.query(stored::problem(2));
  EXPECT_EQ(answer.source, OVT_BASELINE);
  EXPECT_STREQ(answer.config, "sequential ctas=0 transport=ring");
  EXPECT_TRUE(std::isnan(answer.predicted_us));
  EXPECT_TRUE(std::isnan(answer.measured_us));
  EXPECT_TRUE(std::isnan(answer.baseline_us));
  EXPECT_THAT(answer.reason, HasSubstr("no winner is stored"));
  EXPECT_THAT(answer.reason, HasSubstr("the model has no prediction"));
}

TEST(AnswersTest, AUsersOwnDatabaseHidesTheSystemsWhereBothKnow) {
  const TemporaryFolder folder;
  stored::put_winners(folder / "own.db", 2, 1);
  stored::put_winners(folder / "system.db", 4, 2);
  const ovt::Database database({folder / "own.db", folder / "system.db"});
  EXPECT_EQ(stored::wave_groups(database.query(stored::problem(2)))[1], 1001);
  EXPECT_EQ(stored::wave_groups(database.query(stored::problem(3)))[1], 1002);
  EXPECT_EQ(database.query(stored::problem(5)).source, OVT_BASELINE);
  const std::string text = database.explain(stored::problem(3));
  EXPECT_LT(text.find("own.db"), text.find("system.db"));
  EXPECT_THAT(text, HasSubstr("winners: 4\n"));
}

TEST(AnswersTest, TheEnvironmentNamesTheDatabaseWhereTheCallerDoesNot) {
  const TemporaryFolder folder;
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
