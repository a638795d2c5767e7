// Exact answers, in one database and in several.

#include <cmath>
#include <cstdlib>
#include <functional>
#include <utility>

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
    const std::int64_t high = stored::column_tiles(i);
    ASSERT_THAT(ovt::wave_groups(answer),
                ElementsAre(high * (i + 1), high * 1001, high * (7190 - i)));
  }
  const ovt_answer answer = database.query(stored::problem());
  EXPECT_EQ(answer.block_m, 256);
  EXPECT_EQ(answer.block_n, 16);
  EXPECT_EQ(answer.block_k, 64);
  EXPECT_EQ(answer.stages, 4);
  EXPECT_EQ(answer.cluster, 2);
  EXPECT_EQ(answer.raster, 64);
  EXPECT_EQ(answer.comm_ctas, 16);
  EXPECT_EQ(answer.chunks, 1);
  EXPECT_EQ(answer.transport, OVT_TRANSPORT_RING);
  EXPECT_EQ(answer.wait, OVT_WAIT_DRIVER);
  EXPECT_EQ(answer.reserved, 0);
  EXPECT_THAT(answer.reason, StartsWith("validated on cuda:h200-nvlink-x8 at 2"));
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
    const samples::Folder folder;
    const Winner none = changed(0, change);
    stored::put_winners(folder / "a.db", {none, stored::winner(1)});
    const ovt::Database database({folder / "a.db"});
    const Problem& problem = none.candidate.problem;
    const ovt_answer answer = database.query(ovt::problem(
        static_cast<ovt_op>(problem.op), problem.m, problem.n, problem.k, OVT_BF16, problem.ranks));
    EXPECT_EQ(answer.source, OVT_BASELINE) << what;
    EXPECT_EQ(answer.strategy, OVT_SEQUENTIAL) << what;
    EXPECT_EQ(database.query(stored::problem(2)).source, OVT_EXACT) << what;
  }
}

TEST(AnswersTest, AWinnerOfEveryStrategyIsAnswered) {
  const samples::Folder folder;
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
  EXPECT_EQ(sequential.strategy, OVT_SEQUENTIAL);
  EXPECT_EQ(sequential.comm_ctas, 4);
  EXPECT_EQ(sequential.transport, OVT_TRANSPORT_SYMMETRIC);
  EXPECT_EQ(sequential.block_m, 0);
  EXPECT_EQ(sequential.raster, 0);
  EXPECT_EQ(sequential.chunks, 1);
  EXPECT_EQ(sequential.wave_group_count, 0);
  const ovt_answer chunked = database.query(stored::problem(2));
  EXPECT_EQ(chunked.strategy, OVT_CHUNKED);
  EXPECT_EQ(chunked.comm_ctas, 8);
  EXPECT_EQ(chunked.chunks, 2);
  EXPECT_EQ(chunked.block_m, 0);
  EXPECT_EQ(chunked.wave_group_count, 0);
  EXPECT_EQ(database.query(stored::problem(3)).strategy, OVT_SIGNALED);
  EXPECT_THAT(ovt::wave_groups(database.query(stored::problem(3))), ElementsAre(3, 1001, 7188));
  EXPECT_EQ(database.query(stored::problem(4)).transport, OVT_TRANSPORT_SYMMETRIC_THEN_RING);
  EXPECT_THAT(ovt::wave_groups(database.query(stored::problem(4))), ElementsAre(4, 1001, 7187));
  const ovt_answer copies =
      database.query(ovt::problem(OVT_GEMM_ALL_TO_ALL, 8, stored::kN, 3584, OVT_BF16, 8));
  EXPECT_EQ(copies.source, OVT_EXACT);
  EXPECT_EQ(copies.transport, OVT_TRANSPORT_COPY_ENGINE);
  EXPECT_THAT(ovt::wave_groups(copies), ElementsAre(8 * stored::kColumns));
  EXPECT_EQ(database.query(stored::problem(6)).comm_ctas, 9);
  EXPECT_THAT(database.explain(stored::problem(2)),
              HasSubstr("chunked ctas=8 transport=ring chunks=2"));
  EXPECT_THAT(database.explain(stored::problem(3)), HasSubstr(" groups=3,1001,7188\n"));
}

TEST(AnswersTest, TheWaitIsPartOfTheAnswer) {
  const samples::Folder folder;
  const auto file = folder / "a.db";
  stored::put_winners(file,
                      {changed(0, [](Winner& winner) { signaled(winner).wait = Wait::kernel; })});
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
