#include "kernels/hopper_gemm.hpp"

#include <gtest/gtest.h>

#include "core/gpu.hpp"

namespace overlaptune::kernels {
namespace {

TEST(HopperGemm, has_what_the_hardware_allows) {
  int possible = 0;
  for (const Tile& tile : feasible_tiles(gpu_limits(90), Dtype::bf16)) {
    const auto layout = hopper_layout(tile, Dtype::bf16);
    ASSERT_TRUE(layout) << layout.error().message;
    ++possible;
    EXPECT_LE(layout->shared_bytes + 512, 227 * 1024);
    EXPECT_EQ(tile.down() % (64 * layout->of_one_tile()), 0);
    EXPECT_EQ(layout->threads(), 128 * (1 + layout->consumers));
    EXPECT_TRUE(layout->buffers >= 1 && layout->buffers <= layout->slabs);
    EXPECT_TRUE(!layout->in_turn || layout->consumers == 2);
    EXPECT_EQ(tile.across() % layout->slab, 0);
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
  EXPECT_FALSE(hopper_layout({128, 250, 64, 4, 1}, Dtype::bf16));
  EXPECT_FALSE(hopper_layout({128, 128, 64, 4, 3}, Dtype::bf16));
  EXPECT_FALSE(hopper_gemm({256, 208, 64, 3, 1}, Dtype::bf16, {}));
}

TEST(HopperGemm, compiles_without_spills) {
  const auto compiler = Compiler::load();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  for (const Tile& tile :
       {Tile{64, 16, 64, 7, 1}, Tile{128, 256, 64, 4, 1}, Tile{192, 192, 64, 4, 1},
        Tile{256, 192, 64, 3, 1}, Tile{128, 256, 64, 4, 2}, Tile{192, 48, 64, 5, 2},
        Tile{192, 256, 64, 3, 1}, Tile{192, 208, 64, 3, 2}, Tile{128, 192, 64, 5, 2},
        Tile{256, 96, 64, 4, 1}, Tile{192, 128, 64, 4, 1}, Tile{64, 256, 64, 4, 1},
        Tile{160, 256, 64, 4, 2}, Tile{112, 128, 64, 7, 1}, Tile{240, 192, 64, 3, 1},
        Tile{48, 64, 64, 7, 2}}) {
    // Each dtype, a kernel that waits for rows, and kernels that store at ranks.
    for (const auto& [dtype, launches] :
         {std::pair{Dtype::bf16, HopperLaunches{.segments = 16}},
          {Dtype::fp16, HopperLaunches{.segments = 16}},
          {Dtype::bf16, HopperLaunches{.waits = 16}},
          {Dtype::bf16, HopperLaunches{.ranks = 2, .groups = 16}},
          {Dtype::fp16, HopperLaunches{.ranks = 8, .groups = 192}}}) {
      const bool large = tile.block_m * tile.block_n > gpu_limits(kHopper).largest_store_area;
      if (launches.ranks > 0 && large) continue;
      const auto source = hopper_gemm(tile, dtype, launches);
      ASSERT_TRUE(source);
      const auto cubin = compiler->compile(*source, "sm_90a");
      ASSERT_TRUE(cubin) << cubin.error().message;
      EXPECT_EQ(cubin->properties.spill_bytes, 0) << to_string(tile);
      EXPECT_EQ(cubin->properties.local_bytes, 0) << to_string(tile);
      EXPECT_LE(cubin->properties.static_shared_bytes, 512) << to_string(tile);
      EXPECT_TRUE(cubin->warnings.empty()) << cubin->warnings.front();
    }
  }
}

}  // namespace
}  // namespace overlaptune::kernels
