#include "core/gpu.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

TEST(Gpu, the_limits_are_those_of_the_nearest_lower_capability) {
  EXPECT_EQ(gpu_limits(90).shared_memory_bytes, 232448);  // 227 KiB, CUDA programming guide
  EXPECT_EQ(gpu_limits(80).shared_memory_bytes, 166912);
  EXPECT_EQ(gpu_limits(86).shared_memory_bytes, 101376);
  EXPECT_EQ(gpu_limits(87).compute_capability, 86);
  EXPECT_EQ(gpu_limits(89).shared_memory_bytes, 101376);
  EXPECT_EQ(gpu_limits(103).compute_capability, 100);
  EXPECT_EQ(gpu_limits(103).shared_memory_bytes, 232448);
  EXPECT_EQ(gpu_limits(121).shared_memory_bytes, 101376);
}

TEST(Gpu, feasible_tiles_are_all_tiles_that_pass_the_check) {
  for (const int capability : {80, 89, 90}) {
    const GpuLimits& limits = gpu_limits(capability);
    const auto tiles = feasible_tiles(limits, Elements::bf16);
    EXPECT_TRUE(std::is_sorted(tiles.begin(), tiles.end()));
    std::size_t count = 0;
    for (int m = 16; m <= 512; m += 16) {
      for (int n = 8; n <= 512; n += 8) {
        for (int stages = 1; stages <= 10; ++stages) {
          for (int cluster = 1; cluster <= 4; ++cluster) {
            count += is_feasible({m, n, 64, stages, cluster}, limits, Elements::bf16) ? 1 : 0;
          }
        }
      }
    }
    EXPECT_EQ(tiles.size(), count);
  }
}

TEST(Gpu, hopper_runs_the_tiles_that_its_libraries_run) {
  const GpuLimits& limits = gpu_limits(90);
  for (const Tile& tile :
       {Tile{128, 256, 64, 4, 2}, Tile{128, 128, 64, 6, 2}, Tile{256, 128, 64, 4, 1},
        Tile{64, 16, 64, 7, 1}, Tile{256, 192, 64, 3, 2}, Tile{192, 256, 64, 3, 1},
        Tile{160, 256, 64, 4, 2}, Tile{112, 128, 64, 7, 2}, Tile{16, 64, 64, 7, 1}}) {
    EXPECT_TRUE(is_feasible(tile, limits, Elements::bf16)) << to_string(tile);
    EXPECT_FALSE(tile.swaps_ab() && is_feasible(tile, gpu_limits(89), Elements::bf16));
  }
  EXPECT_FALSE(is_feasible({256, 256, 64, 3, 1}, limits, Elements::bf16));  // 65,536 accumulators
  EXPECT_FALSE(is_feasible({128, 256, 64, 5, 1}, limits, Elements::bf16));  // 240 KiB of stages
  EXPECT_FALSE(is_feasible({128, 24, 64, 4, 1}, limits, Elements::bf16));
  EXPECT_FALSE(
      is_feasible({160, 96, 64, 4, 1}, limits, Elements::bf16));  // no multiple of 64 at all
  EXPECT_FALSE(is_feasible({168, 128, 64, 4, 1}, limits, Elements::bf16));
  EXPECT_FALSE(is_feasible({0, 0, 0, 0, 0}, limits, Elements::bf16));
}

Problem problem_of(Op op, std::int64_t m, std::int64_t n) {
  return {.op = op, .m = m, .n = n, .k = 512, .elements = Elements::bf16, .ranks = 8};
}

TEST(Gpu, tiles_are_narrow_only_where_c_is) {
  const GpuLimits& limits = gpu_limits(90);
  const auto widths = [&](std::int64_t n) {
    std::set<int> found;
    for (const Tile& tile : promising_tiles(limits, problem_of(Op::gemm_all_reduce, 512, n)))
      found.insert(tile.block_n);
    return found;
  };
  EXPECT_EQ(*widths(8192).begin(), 64);
  EXPECT_EQ(*widths(64).begin(), 64);
  EXPECT_EQ(*widths(40).begin(), 48);
  EXPECT_EQ(*widths(8).begin(), 16);
  EXPECT_EQ(*widths(8).rbegin(), 256);
}

TEST(Gpu, swap_ab_is_promising_only_where_they_save_rows) {
  const GpuLimits& limits = gpu_limits(90);
  const auto heights = [&](Op op, std::int64_t m) {
    std::set<int> found;
    for (const Tile& tile : promising_tiles(limits, problem_of(op, m, 8192))) {
      if (tile.swaps_ab()) found.insert(tile.block_m);
    }
    return found;
  };
  using Set = std::set<int>;
  EXPECT_EQ(heights(Op::gemm_all_reduce, 4096), Set{});
  // 2056 rows: 33 panels of 64 rows are 2112; 160 and 208 rows make 2080 of them.
  EXPECT_EQ(heights(Op::gemm_all_reduce, 2056), (Set{80, 160, 208}));
  // The rows of one rank count: 257, of which panels of 64 rows make 320.
  EXPECT_EQ(heights(Op::gemm_reduce_scatter, 2056), (Set{96, 144}));
  EXPECT_EQ(heights(Op::all_gather_gemm, 8 * 150), (Set{80, 160, 176}));
  // Tiles of less than 64 rows are promising for as few rows only.
  EXPECT_EQ(heights(Op::gemm_all_reduce, 9), (Set{16, 32, 48}));
}

TEST(Gpu, default_tiles_have_every_shape_with_its_deepest_pipelines) {
  for (const int capability : {80, 89, 90, 100, 120}) {
    const GpuLimits& limits = gpu_limits(capability);
    const auto shape = [](const Tile& tile) { return std::pair{tile.block_m, tile.block_n}; };
    std::map<std::pair<int, int>, std::set<int>> feasible;
    std::map<std::pair<int, int>, std::set<int>> chosen;
    for (const Tile& tile : feasible_tiles(limits, Elements::bf16)) {
      if (!tile.swaps_ab()) feasible[shape(tile)].insert(tile.stages);
    }
    for (const Tile& tile : default_tiles(limits, Elements::bf16)) {
      EXPECT_EQ(tile.cluster, 1);
      EXPECT_TRUE(chosen[shape(tile)].insert(tile.stages).second);
    }
    ASSERT_EQ(chosen.size(), feasible.size());
    for (const auto& [key, depths] : feasible) {
      const std::set<int> expected = capability == 90 ? depths : std::set{*depths.rbegin()};
      EXPECT_EQ(chosen[key], expected) << key.first << " x " << key.second;
    }
  }
}

}  // namespace
}  // namespace overlaptune
