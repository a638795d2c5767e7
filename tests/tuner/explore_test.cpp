#include "tuner/explore.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/gpu.hpp"
#include "core/tiling.hpp"

namespace overlaptune {
namespace {

ExploreSpace space() {
  Platform platform;
  platform.sms = 132;
  platform.compute_capability = 90;
  return {.platform = platform,
          .strategies = {Strategy::sequential, Strategy::chunked, Strategy::signaled},
          .settings = {{Collective::reduce_scatter, {{2}, {4}, {8}, {16}}},
                       {Collective::all_gather, {{2}, {4}, {8}, {16}}}}};
}

constexpr Problem kProblem{Op::gemm_reduce_scatter, 4096, 8192, 3584, Dtype::bf16, 8};

TEST(Explore, gives_different_configs_that_fit_the_problem) {
  const auto configs = explore(space(), kProblem, 200, 1);
  ASSERT_EQ(configs.size(), 200U);
  std::set<std::string> lines;
  for (const Config& config : configs) {
    lines.insert(to_string(config));
    if (config.strategy == Strategy::chunked) {
      EXPECT_TRUE(chunk_rows(kProblem, config.chunks));
    } else {
      EXPECT_TRUE(is_feasible(config.tile, gpu_limits(90)));
      EXPECT_TRUE(group_cuts(tile_order(kProblem, config.tile, config.raster), config));
    }
  }
  EXPECT_EQ(lines.size(), configs.size());
}

TEST(Explore, is_stratified_over_strategies_tiles_and_ctas) {
  std::map<Strategy, int> strategies;
  std::map<int, int> ctas;
  std::map<std::pair<int, int>, int> shapes;
  Problem large = kProblem;  // of enough rows for many chunks
  large.m = 65536;
  for (const Config& config : explore(space(), large, 100, 1)) {
    ++strategies[config.strategy];
    ++ctas[config.comm_ctas];
    if (!config.tile.is_library()) ++shapes[{config.tile.block_m, config.tile.block_n}];
  }
  EXPECT_EQ(strategies.count(Strategy::sequential), 0U);
  EXPECT_NEAR(strategies[Strategy::chunked], strategies[Strategy::signaled], 30);
  for (const auto& [count, times] : ctas) EXPECT_NEAR(times, 25, 10) << count;
  for (const auto& [shape, times] : shapes) EXPECT_LE(times, 3);
  EXPECT_GT(shapes.size(), 30U);
}

TEST(Explore, copy_engines_move_whole_rows_and_are_for_signaled) {
  ExploreSpace copies = space();
  copies.settings = {{Collective::reduce_scatter, {{8, Transport::copy_engine}}}};
  const auto configs = explore(copies, kProblem, 50, 1);
  EXPECT_EQ(configs.size(), 50U);
  for (const Config& config : configs) {
    EXPECT_EQ(config.strategy, Strategy::signaled);
    const auto cuts = group_cuts(tile_order(kProblem, config.tile, config.raster), config);
    ASSERT_TRUE(cuts);
    for (const Cut& cut : *cuts) EXPECT_TRUE(cut.contiguous) << to_string(config);
  }
}

TEST(Explore, depends_on_seed_and_problem_alone) {
  EXPECT_EQ(explore(space(), kProblem, 30, 1), explore(space(), kProblem, 30, 1));
  EXPECT_NE(explore(space(), kProblem, 30, 1), explore(space(), kProblem, 30, 2));
  Problem other = kProblem;
  other.m = 2048;
  EXPECT_NE(explore(space(), kProblem, 30, 1), explore(space(), other, 30, 1));
}

TEST(Explore, a_small_space_gives_what_it_has) {
  const Problem tiny{Op::all_gather_gemm, 2048, 64, 64, Dtype::bf16, 8};  // two tiles a rank
  const auto configs = explore(space(), tiny, 50, 1);
  EXPECT_EQ(configs.size(), 4U);  // two chunks, four CTA counts
  for (const Config& config : configs) EXPECT_EQ(config.strategy, Strategy::chunked);
  EXPECT_TRUE(explore(space(), {Op::all_gather_gemm, 16, 64, 64, Dtype::bf16, 8}, 50, 1).empty());
  ExploreSpace none = space();
  none.settings.clear();
  EXPECT_TRUE(explore(none, kProblem, 10, 1).empty());
}

}  // namespace
}  // namespace overlaptune
