// Timelines of `waiting` on measurements of simulated H200: what the GEMM waits for is exposed.

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "core/gpu.hpp"
#include "fitted.hpp"
#include "model/search.hpp"
#include "model/strategy_model.hpp"

namespace overlaptune {
namespace {

class WaitingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fitted_ = std::make_unique<FittedMachine>(fit_simulated("h200-nvlink-x8", 8));
  }
  static void TearDownTestSuite() { fitted_.reset(); }

  /// The best config of the strategy for rows of 1024 elements, gathered from 8 ranks, that meet
  /// `n` columns.
  static std::pair<Waiting, Prediction> best(std::int64_t n) {
    const Problem problem{Op::all_gather_gemm, 65536, n, 1024, Elements::bf16, 8};
    const auto found = value_or_throw(
        search(fitted_->model, problem, Launch::graph,
               {.space = Space::subset, .best = 2, .strategies = {strategy_of<Waiting>()}}));
    for (const Scored& each : found) {
      if (strategy_of(each.config) != strategy_of<Waiting>()) continue;
      return {std::get<Waiting>(each.config),
              value_or_throw(fitted_->model.predict(problem, each.config, Launch::graph))};
    }
    throw std::runtime_error("no config of the strategy");
  }

  inline static std::unique_ptr<FittedMachine> fitted_;
};

TEST_F(WaitingTest, groups_arrive_one_after_the_other_and_the_gemm_ends_last) {
  for (const std::int64_t n : {256, 16384}) {
    const auto [config, prediction] = best(n);
    const auto& groups = prediction.timeline.groups;
    ASSERT_EQ(groups.size() + 1, config.wave_groups.size());  // the rank's own rows do not travel
    for (std::size_t i = 0; i < groups.size(); ++i) {
      EXPECT_EQ(groups[i].group, static_cast<int>(i) + 1);
      EXPECT_LT(groups[i].start, groups[i].end);
      EXPECT_EQ(groups[i].ready, groups.front().ready);
      EXPECT_EQ(groups[i].start, i == 0 ? groups[0].ready : groups[i - 1].end);
    }
    EXPECT_EQ(prediction.timeline.gemm_end, prediction.time);
    EXPECT_LT(groups.back().end, prediction.time);
  }
}

TEST_F(WaitingTest, a_long_gemm_waits_for_nothing) {
  for (const GroupTimes& group : best(16384).second.timeline.groups) {
    EXPECT_EQ(group.exposed.count(), 0) << group.group;
  }
}

TEST_F(WaitingTest, a_short_gemm_waits_for_all_but_the_time_of_its_tiles) {
  const auto [config, prediction] = best(256);
  const auto& groups = prediction.timeline.groups;
  ASSERT_GE(groups.size(), 7U);
  std::int64_t tiles = 0;
  for (const std::int64_t count : config.wave_groups) tiles += count;
  const Microseconds of_tile = prediction.gemm_alone / static_cast<double>(tiles);
  // Until the first rows arrive, the GEMM has the rank's own; alone, it is not slowed.
  const Microseconds first = groups[0].end - groups[0].start - groups[0].exposed;
  const Microseconds own = of_tile * static_cast<double>(config.wave_groups[0]);
  EXPECT_GT(first, 0.9 * own);
  EXPECT_LT(first, 1.5 * own + us(10));  // and the launch
  // Beside each later group it has the tiles of the one before, each slowed alike.
  const auto computed = [&](std::size_t i) {
    EXPECT_GT(groups[i].exposed.count(), 0) << i;
    return (groups[i].end - groups[i].start - groups[i].exposed) /
           static_cast<double>(config.wave_groups[i]);
  };
  const Microseconds slowed = computed(1);
  EXPECT_GE(slowed, of_tile * (1 - 1e-9));
  EXPECT_LT(slowed, 2 * of_tile);
  for (std::size_t i = 2; i < groups.size(); ++i) {
    EXPECT_NEAR(computed(i) / slowed, 1, 1e-6) << i;
  }
}

/// The swizzles that the search tries, as docs/model.md gives them.
bool is_tried(int swizzle) {
  return swizzle == 1 || swizzle == 2 || swizzle == 4 || swizzle == 8 || swizzle == 16;
}

/// A bound that cuts off too much would leave a faster config unseen.
TEST_F(WaitingTest, nothing_drawn_at_random_is_predicted_to_be_faster_than_what_is_found) {
  Draws draws(3, fitted_->machine->platform(), Elements::bf16);
  int compared = 0;
  int by_tiles = 0;
  int in_chunks = 0;
  for (const Problem& problem :
       {Problem{Op::all_gather_gemm, 2048, 2048, 4096, Elements::bf16, 8},
        Problem{Op::all_gather_gemm, 8192, 7168, 2048, Elements::bf16, 8},
        Problem{Op::all_gather_gemm, 32768, 512, 8192, Elements::bf16, 8}}) {
    const auto found = value_or_throw(
        search(fitted_->model, problem, Launch::graph, {.strategies = {strategy_of<Waiting>()}}));
    const auto tiles = promising_tiles(gpu_limits(90), problem);
    for (int i = 0; i < 1600; ++i) {
      const Transport transport = i % 2 == 0 ? Transport::ring : Transport::peer_access;
      const auto config = model_of(strategy_of<Waiting>()).draw(problem, {16, transport}, draws);
      const auto& own = std::get<Waiting>(*config);
      if (!is_tried(own.swizzle) ||
          std::find(tiles.begin(), tiles.end(), own.tile) == tiles.end()) {
        continue;
      }
      const auto prediction = fitted_->model.predict(problem, *config, Launch::graph);
      if (!prediction) continue;
      EXPECT_GE(prediction->time, found.front().time * (1 - 1e-9)) << to_string(*config);
      ++compared;
      by_tiles += tiles_push(own) ? 1 : 0;
      in_chunks += own.k_chunks > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 400);
  EXPECT_GT(by_tiles, 20);
  EXPECT_GT(in_chunks, 100);
}

/// A combination whose bound is too high would be missing in short lists: long ones have all.
TEST_F(WaitingTest, a_short_list_is_the_beginning_of_a_long_one) {
  for (const Problem& problem :
       {Problem{Op::all_gather_gemm, 2048, 2048, 4096, Elements::bf16, 8},
        Problem{Op::all_gather_gemm, 8192, 7168, 2048, Elements::bf16, 8}}) {
    const auto list = [&](int count) {
      return value_or_throw(search(fitted_->model, problem, Launch::graph,
                                   {.best = count, .strategies = {strategy_of<Waiting>()}}));
    };
    const auto all = list(100'000);
    ASSERT_GT(all.size(), 100U);
    for (const int count : {2, 5, 20, 50, 100}) {
      const auto few = list(count);
      ASSERT_EQ(few.size(), static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < few.size(); ++i) {
        EXPECT_EQ(few[i].time, all[i].time) << count << ": " << to_string(all[i].config);
      }
    }
  }
}

/// 40 tiles: two CTAs for each where copies bring the rows. A GEMM that pushes them has one.
TEST_F(WaitingTest, a_gemm_that_pushes_shares_no_tile) {
  const Problem problem{Op::all_gather_gemm, 1024, 1280, 8192, Elements::bf16, 8};
  Waiting config{
      .tile = {128, 256, 64, 4, 1}, .swizzle = 1, .wave_groups = {5, 5, 5, 5, 5, 5, 5, 5}};
  const auto gemm = [&] {
    return value_or_throw(fitted_->model.predict(problem, config, Launch::graph)).gemm_alone;
  };
  const Microseconds shared = gemm();
  config.comm_ctas = 16;
  config.transport = Transport::peer_access;
  EXPECT_GT(gemm() / shared, 1.4);
  EXPECT_LT(gemm() / shared, 2.1);
}

/// Eager launches, too: what the host submits depends on the number of groups.
TEST_F(WaitingTest, the_search_promises_what_is_predicted) {
  const Problem problem{Op::all_gather_gemm, 8192, 7168, 2048, Elements::bf16, 8};
  for (const Launch launch : {Launch::graph, Launch::eager}) {
    const auto found = value_or_throw(search(fitted_->model, problem, launch,
                                             {.best = 8, .strategies = {strategy_of<Waiting>()}}));
    ASSERT_GT(found.size(), 4U);
    for (const Scored& scored : found) {
      const auto prediction =
          value_or_throw(fitted_->model.predict(problem, scored.config, launch));
      EXPECT_NEAR(prediction.time / scored.time, 1, 1e-9) << to_string(scored.config);
    }
  }
}

}  // namespace
}  // namespace overlaptune
