#include "kernels/hopper_gemm.hpp"

#include <gtest/gtest.h>

#include "core/gpu.hpp"

namespace overlaptune::kernels {
namespace {

TEST(HopperGemm, has_what_the_hardware_allows) {
  int possible = 0;
  for (const Tile& tile : feasible_tiles(gpu_limits(90), Elements::bf16)) {
    const auto layout = hopper_layout(tile, Elements::bf16);
    ASSERT_TRUE(layout) << layout.error().message;
    ++possible;
    EXPECT_LE(layout->shared_bytes + 512, 227 * 1024);
    EXPECT_EQ(tile.down() % (64 * layout->of_one_tile()), 0);
    EXPECT_EQ(layout->threads(), 128 * (1 + layout->consumers));
    EXPECT_TRUE(layout->buffers >= 1 && layout->buffers <= layout->subtiles);
    EXPECT_TRUE(!layout->ping_pong || layout->consumers == 2);
    EXPECT_EQ(tile.across() % layout->subtile, 0);
    EXPECT_EQ(tile.across() % layout->multiplied, 0);
    // PTX ISA, "wgmma.mma_async": N is a multiple of 8; and ptxas takes an instruction only where
    // its sums leave room among the registers that a thread starts with, 65,536 in all.
    EXPECT_EQ(layout->multiplied % 8, 0);
    EXPECT_LT(layout->multiplied / 2 + 20, 65536 / layout->threads());
    // The sums of a thread fit its registers, beside the other values that it needs.
    const int sums = tile.block_m * tile.block_n / (128 * layout->of_one_tile());
    EXPECT_LE(sums, layout->consumers == 3 ? 128 : 200);
  }
  EXPECT_GE(possible, 150);
}

TEST(HopperGemm, says_what_it_cannot_be) {
  EXPECT_FALSE(hopper_layout({128, 250, 64, 4, 1}, Elements::bf16));
  EXPECT_FALSE(hopper_layout({128, 128, 64, 4, 3}, Elements::bf16));
  EXPECT_FALSE(hopper_gemm({.tile = {256, 208, 64, 3, 1}, .elements = Elements::bf16}));
}

}  // namespace
}  // namespace overlaptune::kernels
