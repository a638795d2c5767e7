#include "tuner/explore.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/tiling.hpp"
#include "core/gpu.hpp"

namespace overlaptune {
namespace {

ExploreSpace space() {
  Platform platform;
  platform.gpu_count = 8;
  platform.sms = 132;
  platform.compute_capability = 90;
  return {
      .platform = platform,
      .strategies = {strategy_of<Sequential>(), strategy_of<Chunked>(), strategy_of<Signaled>()},
      .settings = {{Collective::reduce_scatter, {{2}, {4}, {8}, {16}}},
                   {Collective::all_gather, {{2}, {4}, {8}, {16}}}}};
}

constexpr Problem kProblem{Op::gemm_reduce_scatter, 4096, 8192, 3584, Elements::bf16, 8};

TEST(Explore, gives_different_configs_that_fit_the_problem) {
  const auto configs = explore(space(), kProblem, 200, 1);
  ASSERT_EQ(configs.size(), 200U);
  std::set<std::string> lines;
  for (const Config& config : configs) {
    lines.insert(to_string(config));
    if (const auto* signaled = std::get_if<Signaled>(&config)) {
      EXPECT_TRUE(is_feasible(signaled->tile, gpu_limits(90), Elements::bf16));
      EXPECT_TRUE(group_cuts(tile_order(kProblem, signaled->tile, signaled->swizzle),
                             signaled->wave_groups));
    } else {
      EXPECT_TRUE(chunk_rows(kProblem, std::get<Chunked>(config).chunks));
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
    ++strategies[strategy_of(config)];
    ++ctas[comm_ctas(config)];
    if (const auto* signaled = std::get_if<Signaled>(&config)) {
      ++shapes[{signaled->tile.block_m, signaled->tile.block_n}];
    }
  }
  EXPECT_EQ(strategies.count(strategy_of<Sequential>()), 0U);
  EXPECT_NEAR(strategies[strategy_of<Chunked>()], strategies[strategy_of<Signaled>()], 30);
  for (const auto& [count, times] : ctas) EXPECT_NEAR(times, 25, 10) << count;
  for (const auto& [shape, times] : shapes) EXPECT_LE(times, 3);
  EXPECT_GT(shapes.size(), 30U);
}

TEST(Explore, copy_engines_move_whole_rows_and_are_for_signaled) {
  Problem problem = kProblem;
  problem.op = Op::gemm_all_to_all;
  ExploreSpace copies = space();
  copies.settings = {{Collective::all_to_all, {{8, Transport::copy_engine}}}};
  const auto configs = explore(copies, problem, 50, 1);
  EXPECT_EQ(configs.size(), 50U);
  for (const Config& config : configs) {
    const auto& signaled = std::get<Signaled>(config);
    const auto cuts =
        group_cuts(tile_order(problem, signaled.tile, signaled.swizzle), signaled.wave_groups);
    ASSERT_TRUE(cuts);
    for (const Cut& cut : *cuts) EXPECT_TRUE(cut.contiguous) << to_string(config);
  }
  // Copy engines do not add.
  copies.settings = {{Collective::reduce_scatter, {{8, Transport::copy_engine}}}};
  EXPECT_TRUE(explore(copies, kProblem, 50, 1).empty());
}

/// Lines that an earlier version of this program printed: a seed must always give the same configs,
/// or a resumed run would draw others.
TEST(Explore, peer_store_is_for_ranks_that_were_probed_to_reach_each_other) {
  ExploreSpace stores = space();
  stores.platform.link = "nvlink";
  stores.platform.machine = "sim";
  stores.strategies.push_back(strategy_of<PeerStore>());
  const auto drawn = [&] {
    int count = 0;
    for (const Config& config : explore(stores, kProblem, 90, 1)) {
      const auto* stored = std::get_if<PeerStore>(&config);
      if (stored == nullptr) continue;
      ++count;
      EXPECT_TRUE(has_store_kernel(stored->tile, gpu_limits(90)));
      EXPECT_TRUE(
          group_cuts(tile_order(kProblem, stored->tile, stored->swizzle), stored->wave_groups));
    }
    return count;
  };
  EXPECT_EQ(drawn(), 0);
  stores.settings[Collective::reduce_scatter].push_back({8, Transport::peer_access});
  EXPECT_NEAR(drawn(), 30, 15);
}

TEST(Explore, a_seed_gives_what_it_has_always_given) {
  const auto configs = explore(space(), kProblem, 6, 1);
  ASSERT_EQ(configs.size(), 6U);
  const std::vector<std::string> expected{
      "signaled tile=64x112x64 stages=3 cluster=2 swizzle=8 ctas=8 transport=ring groups=4736",
      "chunked ctas=16 transport=ring chunks=4",
      "signaled tile=192x48x64 stages=6 cluster=2 swizzle=3 ctas=4 transport=ring wait=kernel "
      "groups=4104",
      "chunked ctas=2 transport=ring chunks=4",
      "signaled tile=128x64x64 stages=4 cluster=2 swizzle=2 ctas=8 transport=ring "
      "groups=2096,128,128,128,112,128,128,128,112,128,128,128,112,128,128,128,112,16",
      "chunked ctas=16 transport=ring chunks=2",
  };
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(to_string(configs[i]), expected[i]);
}

TEST(Explore, depends_on_seed_and_problem_alone) {
  EXPECT_EQ(explore(space(), kProblem, 30, 1), explore(space(), kProblem, 30, 1));
  EXPECT_NE(explore(space(), kProblem, 30, 1), explore(space(), kProblem, 30, 2));
  Problem other = kProblem;
  other.m = 2048;
  EXPECT_NE(explore(space(), kProblem, 30, 1), explore(space(), other, 30, 1));
}

TEST(Explore, a_space_is_drawn_from_until_little_is_left) {
  // 16 settings with 2 to 32 chunks each. The last configs are found after many draws of known
  // ones.
  ExploreSpace chunks = space();
  chunks.strategies = {strategy_of<Chunked>()};
  auto& settings = chunks.settings[Collective::reduce_scatter];
  settings.clear();
  for (int ctas = 2; ctas <= 32; ctas += 2) settings.push_back({ctas});
  Problem large = kProblem;
  large.m = 65536;
  EXPECT_EQ(explore(chunks, large, 486, 1).size(), 486U);
  EXPECT_LE(explore(chunks, large, 5000, 1).size(), 16U * 31U);
}

TEST(Explore, a_small_space_gives_what_it_has) {
  const Problem tiny{Op::all_gather_gemm, 2048, 64, 64, Elements::bf16, 8};  // two tiles a rank
  const auto configs = explore(space(), tiny, 50, 1);
  EXPECT_EQ(configs.size(), 4U);  // two chunks, four CTA counts
  for (const Config& config : configs) EXPECT_EQ(strategy_of(config), strategy_of<Chunked>());
  EXPECT_TRUE(
      explore(space(), {Op::all_gather_gemm, 16, 64, 64, Elements::bf16, 8}, 50, 1).empty());
  ExploreSpace none = space();
  none.settings.clear();
  EXPECT_TRUE(explore(none, kProblem, 10, 1).empty());
}

}  // namespace
}  // namespace overlaptune
