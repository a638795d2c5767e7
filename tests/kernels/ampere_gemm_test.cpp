#include "kernels/ampere_gemm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune::kernels {
namespace {

using ::testing::HasSubstr;

TEST(AmpereGemm, has_every_feasible_tile_whose_sums_fit_the_registers) {
  for (const int capability : {80, 89, 90, 100, 120}) {
    const GpuLimits& limits = gpu_limits(capability);
    int possible = 0;
    for (const Tile& tile : feasible_tiles(limits, Elements::bf16)) {
      const auto layout = ampere_layout(tile, limits, Elements::bf16);
      const bool needs_wgmma =
          tile.swaps_ab() || shared_memory_bytes(tile, Elements::bf16) > limits.shared_memory_bytes;
      EXPECT_FALSE(needs_wgmma && capability != 90) << to_string(tile);
      ASSERT_EQ(layout.has_value(),
                tile.cluster == 1 && tile.block_m * tile.block_n <= 128 * 256 && !needs_wgmma)
          << to_string(tile);
      if (!layout) continue;
      ++possible;
      const int warps = layout->warps_m * layout->warps_n;
      EXPECT_EQ(layout->threads, 32 * warps);
      EXPECT_TRUE(warps == 4 || warps == 8);
      EXPECT_EQ(tile.block_m % (16 * layout->warps_m), 0);
      EXPECT_EQ(tile.block_n % (8 * layout->warps_n), 0);
      EXPECT_LE(tile.block_m * tile.block_n / layout->threads, 128);
      EXPECT_TRUE(layout->subtile == 16 || layout->subtile == 32 || layout->subtile == 64);
      EXPECT_LE(layout->subtile, tile.block_n / layout->warps_n);
      // The kernel takes no more than the search expects.
      EXPECT_LE(layout->shared_bytes, shared_memory_bytes(tile, Elements::bf16));
      EXPECT_LE(layout->shared_bytes, limits.shared_memory_bytes);
    }
    EXPECT_GT(possible, 50);
  }
}

TEST(AmpereGemm, warps_share_a_tile_so_that_they_read_little) {
  const auto shape = [](int m, int n) {
    const auto layout = ampere_layout({m, n, 64, 3, 1}, gpu_limits(90), Elements::bf16).value();
    return std::pair{layout.warps_m, layout.warps_n};
  };
  EXPECT_EQ(shape(128, 256), (std::pair{2, 4}));
  EXPECT_EQ(shape(256, 128), (std::pair{4, 2}));
  EXPECT_EQ(shape(64, 64), (std::pair{2, 2}));
  EXPECT_EQ(shape(192, 160), (std::pair{4, 2}));
  EXPECT_EQ(shape(256, 16), (std::pair{4, 1}));
}

TEST(AmpereGemm, says_what_it_cannot_be) {
  const auto message = [](const Tile& tile, int capability) {
    const auto layout = ampere_layout(tile, gpu_limits(capability), Elements::bf16);
    return layout ? std::string() : layout.error().message;
  };
  EXPECT_THAT(message({128, 256, 64, 4, 1}, 89), HasSubstr("tile 128x256x64 with 4 stages"));
  EXPECT_THAT(message({128, 250, 64, 3, 1}, 80), HasSubstr("tile 128x250x64"));
  EXPECT_THAT(message({128, 128, 64, 4, 2}, 90), HasSubstr("cluster = 2"));
  EXPECT_THAT(message({256, 192, 64, 3, 1}, 90), HasSubstr("expected at most 32768"));
  EXPECT_FALSE(ampere_gemm({256, 192, 64, 3, 1}, gpu_limits(90), Elements::bf16, 1));
}

}  // namespace
}  // namespace overlaptune::kernels
