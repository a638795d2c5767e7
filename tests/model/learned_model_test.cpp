// Changes of predictions and choices by measured configs, on a simulated machine that was probed.

#include "model/learned_model.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "core/config/check.hpp"
#include "fitted.hpp"

namespace overlaptune {
namespace {

const Problem kTuned{Op::gemm_reduce_scatter, 4096, 8192, 3584, Elements::bf16, 8};

Candidate measured(const Problem& problem, const Config& config, Microseconds time) {
  return {.problem = problem, .config = config, .measured = Summary{time, time, time, 9}};
}

class LearnedModelTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const FittedMachine fitted = fit_simulated("h200-nvlink-x8", 8);
    platform_ = fitted.machine->platform();
    measurements_ = fitted.measurements;
  }
  /// A model that has learned nothing yet.
  [[nodiscard]] static LearnedModel model() {
    return LearnedModel(value_or_throw(Model::fit(platform_, measurements_)));
  }
  [[nodiscard]] static Ranking ranked(const LearnedModel& model, const Problem& problem) {
    return value_or_throw(model.rank(problem, Launch::graph, {.space = Space::subset, .best = 8}));
  }
  [[nodiscard]] static Microseconds predicted(const LearnedModel& model, const Problem& problem,
                                              const Config& config) {
    return value_or_throw(model.score(model.around(problem, Launch::graph), config)).time();
  }

  inline static Platform platform_{};
  inline static std::vector<Measurement> measurements_{};
};

TEST_F(LearnedModelTest, without_measurements_it_is_the_analytic_model) {
  const LearnedModel cold = model();
  const Ranking ranking = ranked(cold, kTuned);
  const auto best =
      value_or_throw(search(cold.analytic(), kTuned, Launch::graph, {.space = Space::subset}));
  EXPECT_EQ(ranking.choice().config, best.front().config);
  EXPECT_EQ(ranking.choice().time(), best.front().time);
  EXPECT_EQ(ranking.corrections.rows(), 0U);
}

TEST_F(LearnedModelTest, scores_ascend_each_config_once_and_all_are_legal) {
  LearnedModel taught = model();
  for (const LearnedScore& score : ranked(taught, kTuned).scores) {
    taught.learn(measured(kTuned, score.config, 1.1 * score.analytic));
  }
  for (const std::int64_t m : {8, 1000, 4088, 4104, 65536}) {
    for (const std::int64_t k : {8, 3584, 3592}) {
      Problem problem = kTuned;
      problem.m = m;
      problem.k = k;
      const Ranking ranking = ranked(taught, problem);
      for (std::size_t i = 0; i < ranking.scores.size(); ++i) {
        const LearnedScore& score = ranking.scores[i];
        EXPECT_TRUE(check(problem, score.config, capabilities_of(platform_)))
            << to_string(score.config);
        EXPECT_LE(score.p10(), score.time());
        EXPECT_LE(score.time(), score.p90());
        if (i == 0) continue;
        EXPECT_GE(score.time(), ranking.scores[i - 1].time());
        EXPECT_NE(score.config, ranking.scores[i - 1].config);
      }
    }
  }
}

TEST_F(LearnedModelTest, the_winner_next_door_is_considered) {
  // A config that the analytic model does not propose, and that turned out to be the fastest.
  LearnedModel taught = model();
  const auto all = value_or_throw(search(taught.analytic(), kTuned, Launch::graph,
                                         {.best = 60, .strategies = {strategy_of<Signaled>()}}));
  const Config& hidden = all.back().config;
  taught.learn(measured(kTuned, hidden, 0.95 * all.front().time));
  for (std::size_t i = 0; i < 6; ++i) {
    taught.learn(measured(kTuned, all[i].config, all[i].time));
  }
  Problem near = kTuned;
  near.m = 4088;  // another number of tiles
  const auto is_alike = [&](const LearnedScore& score) {
    return strategy_of(score.config) == strategy_of(hidden) &&
           tile_of(score.config) == tile_of(hidden) &&
           comm_ctas(score.config) == comm_ctas(hidden) &&
           transport_of(score.config) == transport_of(hidden);
  };
  const auto scores = ranked(taught, near).scores;
  EXPECT_TRUE(std::any_of(scores.begin(), scores.end(), is_alike)) << to_string(hidden);
  const auto cold = ranked(model(), near).scores;
  EXPECT_FALSE(std::any_of(cold.begin(), cold.end(), is_alike)) << to_string(hidden);
}

TEST_F(LearnedModelTest, sequential_is_chosen_where_the_gain_is_not_sure) {
  LearnedModel taught = model();
  const Ranking before = ranked(taught, kTuned);
  ASSERT_NE(strategy_of(before.choice().config), strategy_of<Sequential>());
  // Measured configs that overlap take a little longer than `sequential`.
  const Microseconds sequential = before.sequential.analytic;
  taught.learn(measured(kTuned, before.sequential.config, sequential));
  for (const Strategy strategy :
       {strategy_of<Chunked>(), strategy_of<Signaled>(), strategy_of<PeerStore>()}) {
    const SearchOptions options{.space = Space::subset, .best = 8, .strategies = {strategy}};
    for (const Scored& scored :
         value_or_throw(search(taught.analytic(), kTuned, Launch::graph, options))) {
      if (strategy_of(scored.config) != strategy) continue;
      taught.learn(measured(kTuned, scored.config, 1.02 * sequential));
    }
  }
  Problem near = kTuned;
  near.m = 4104;
  const Ranking after = ranked(taught, near);
  EXPECT_LT(after.scores.front().time(), after.sequential.time());
  EXPECT_EQ(strategy_of(after.choice().config), strategy_of<Sequential>());
}

TEST_F(LearnedModelTest, a_gain_is_sure_above_half_of_its_deviation) {
  LearnedModel taught = model();
  const Ranking before = ranked(taught, kTuned);
  taught.learn(measured(kTuned, before.sequential.config, before.sequential.analytic));
  Problem near = kTuned;
  near.m = 2 * kTuned.m;
  const ProblemCorrections corrections = taught.around(near, Launch::graph);
  LearnedScore sequential = before.sequential;
  LearnedScore other = before.choice();
  sequential.correction = other.correction = {};
  const double deviation = corrections.between(other.point, sequential.point).deviation;
  ASSERT_GT(deviation, 0.001);
  const auto gains = [&](double deviations) {
    sequential.analytic = us(100);
    other.analytic = us(100 * std::exp(-deviations * deviation));
    return is_surely_faster(other, sequential, corrections);
  };
  EXPECT_FALSE(gains(0.4));
  EXPECT_TRUE(gains(0.6));
}

TEST_F(LearnedModelTest, candidates_that_did_not_run_teach_nothing) {
  LearnedModel taught = model();
  const Ranking before = ranked(taught, kTuned);
  Candidate wrong = measured(kTuned, before.scores[0].config, us(1));
  wrong.verdict = Verdict::wrong;
  taught.learn(wrong);
  Candidate untimed = measured(kTuned, before.scores[0].config, us(1));
  untimed.measured.reset();
  taught.learn(untimed);
  Problem never = kTuned;
  never.ranks = 2;  // not probed, so not predicted
  taught.learn(measured(never, before.scores[0].config, us(1)));
  EXPECT_EQ(taught.around(kTuned, Launch::graph).rows(), 0U);
}

TEST_F(LearnedModelTest, the_strategies_that_were_measured_are_known_for_each_op) {
  LearnedModel taught = model();
  EXPECT_TRUE(taught.measured_strategies(kTuned.op).empty());
  const std::vector<Scored> best = value_or_throw(
      search(taught.analytic(), kTuned, Launch::graph, {.strategies = {strategy_of<Signaled>()}}));
  taught.learn(measured(kTuned, best.front().config, best.front().time));
  EXPECT_EQ(taught.measured_strategies(kTuned.op),
            (std::vector{strategy_of<Sequential>(), strategy_of<Signaled>()}));
  EXPECT_TRUE(taught.measured_strategies(Op::gemm_all_reduce).empty());
}

TEST_F(LearnedModelTest, of_each_problem_the_three_fastest_are_known) {
  LearnedModel taught = model();
  const auto learn = [&](Strategy strategy, double time) {
    const auto best = value_or_throw(
        search(taught.analytic(), kTuned, Launch::graph, {.strategies = {strategy}}));
    ASSERT_EQ(strategy_of(best.front().config), strategy);
    taught.learn(measured(kTuned, best.front().config, us(time)));
  };
  learn(strategy_of<Chunked>(), 400);
  learn(strategy_of<Signaled>(), 100);
  learn(strategy_of<PeerStore>(), 200);
  EXPECT_EQ(taught.measured_strategies(kTuned.op),
            (std::vector{strategy_of<Sequential>(), strategy_of<Chunked>(), strategy_of<Signaled>(),
                         strategy_of<PeerStore>()}));
  taught.learn(measured(kTuned, Sequential{}, us(300)));
  EXPECT_EQ(
      taught.measured_strategies(kTuned.op),
      (std::vector{strategy_of<Sequential>(), strategy_of<Signaled>(), strategy_of<PeerStore>()}));
}

/// Kernels whose tiles push are others than those of the same tile that wait for copies.
TEST_F(LearnedModelTest, tiles_that_push_are_a_way_of_their_own) {
  const Problem problem{Op::all_gather_gemm, 2048, 2560, 8192, Elements::bf16, 8};
  LearnedModel taught = model();
  const auto best = [&](bool pushing) {
    return value_or_throw(
               search(taught.analytic(), problem, Launch::graph,
                      {.strategies = {strategy_of<Waiting>()},
                       .accepts =
                           [&](const Config& config) { return tiles_push(config) == pushing; }}))
        .front();
  };
  const Scored pushing = best(true);
  const Scored copying = best(false);
  ASSERT_TRUE(tiles_push(pushing.config));
  ASSERT_EQ(strategy_of(copying.config), strategy_of<Waiting>());
  EXPECT_FALSE(tiles_push(copying.config));
  Waiting same_tile = std::get<Waiting>(copying.config);
  same_tile.tile = tile_of(pushing.config);
  EXPECT_FALSE(same_kernels(pushing.config, same_tile));

  EXPECT_TRUE(taught.was_tried(problem.op, pushing.config));  // nothing was
  taught.learn(measured(problem, copying.config, copying.time));
  EXPECT_TRUE(taught.was_tried(problem.op, copying.config));
  EXPECT_FALSE(taught.was_tried(problem.op, pushing.config));
  EXPECT_TRUE(taught.was_tried(Op::gemm_all_reduce, pushing.config));
  taught.learn(measured(problem, pushing.config, pushing.time));
  EXPECT_TRUE(taught.was_tried(problem.op, pushing.config));
}

TEST_F(LearnedModelTest, configs_of_the_three_nearest_problems_are_adapted) {
  // Half or twice as large in one size is near; a sixteenth is far, though it is smaller.
  // A search of the subset has none of these numbers of chunks.
  const std::vector<int> chunks{11, 13, 14, 15};
  Problem far = kTuned;
  far.m /= 16;
  Problem wider = kTuned;
  wider.n *= 2;
  Problem shorter = kTuned;
  shorter.m /= 2;
  Problem deeper = kTuned;
  deeper.k *= 2;
  LearnedModel taught = model();
  const std::vector<Problem> problems{far, wider, shorter, deeper};
  for (std::size_t i = 0; i < problems.size(); ++i) {
    taught.learn(measured(problems[i], Chunked{.comm_ctas = 16, .chunks = chunks[i]}, us(500)));
  }
  ASSERT_EQ(taught.around(kTuned, Launch::graph).rows(), 4U);
  std::vector<int> adapted;
  for (const LearnedScore& score : ranked(taught, kTuned).scores) {
    const auto* config = std::get_if<Chunked>(&score.config);
    if (config == nullptr) continue;
    if (std::find(chunks.begin(), chunks.end(), config->chunks) == chunks.end()) continue;
    adapted.push_back(config->chunks);
  }
  std::sort(adapted.begin(), adapted.end());
  EXPECT_EQ(adapted, (std::vector{13, 14, 15}));
}

TEST_F(LearnedModelTest, a_slow_gpu_is_learned_from_few_candidates) {
  LearnedModel taught = model();
  for (const Strategy strategy :
       {strategy_of<Chunked>(), strategy_of<PeerStore>(), strategy_of<Signaled>()}) {
    const SearchOptions options{.space = Space::subset, .best = 16, .strategies = {strategy}};
    const auto some = value_or_throw(search(taught.analytic(), kTuned, Launch::graph, options));
    for (const Scored& each : some) taught.learn(measured(kTuned, each.config, 1.2 * each.time));
  }
  Problem near = kTuned;
  near.m = 5000;
  const Config config = ranked(taught, near).scores.front().config;
  const auto analytic = taught.analytic().predict(near, config, Launch::graph);
  EXPECT_NEAR(predicted(taught, near, config) / analytic->time, 1.2, 0.05);
}

}  // namespace
}  // namespace overlaptune
