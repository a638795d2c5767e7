#include "kernels/ampere_gemm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune::kernels {
namespace {

using ::testing::HasSubstr;

TEST(AmpereGemm, has_every_feasible_tile_whose_sums_fit_the_registers) {
  for (const int capability : {80, 89, 90}) {
    const GpuLimits& limits = gpu_limits(capability);
    int possible = 0;
    for (const Tile& tile : feasible_tiles(limits, Dtype::bf16)) {
      const auto layout = ampere_layout(tile, limits, Dtype::bf16);
      ASSERT_EQ(layout.has_value(), tile.cluster == 1 && tile.block_m * tile.block_n <= 128 * 256)
          << to_string(tile);
      if (!layout) continue;
      ++possible;
      const int warps = layout->warps_m * layout->warps_n;
      EXPECT_EQ(layout->threads, 32 * warps);
      EXPECT_TRUE(warps == 4 || warps == 8);
      EXPECT_EQ(tile.block_m % (16 * layout->warps_m), 0);
      EXPECT_EQ(tile.block_n % (8 * layout->warps_n), 0);
      EXPECT_LE(tile.block_m * tile.block_n / layout->threads, 128);
      EXPECT_TRUE(layout->slab == 16 || layout->slab == 32 || layout->slab == 64);
      EXPECT_LE(layout->slab, tile.block_n / layout->warps_n);
      // The kernel takes no more than the search expects.
      EXPECT_LE(layout->shared_bytes, shared_memory_bytes(tile, Dtype::bf16));
      EXPECT_LE(layout->shared_bytes, limits.shared_memory_bytes);
    }
    EXPECT_GT(possible, 50);
  }
}

TEST(AmpereGemm, warps_share_a_tile_so_that_they_read_little) {
  const auto shape = [](int m, int n) {
    const auto layout = ampere_layout({m, n, 64, 3, 1}, gpu_limits(90), Dtype::bf16).value();
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
    const auto layout = ampere_layout(tile, gpu_limits(capability), Dtype::bf16);
    return layout ? std::string() : layout.error().message;
  };
  EXPECT_THAT(message({128, 256, 64, 4, 1}, 89), HasSubstr("tile 128x256x64 with 4 stages"));
  EXPECT_THAT(message({128, 250, 64, 3, 1}, 80), HasSubstr("tile 128x250x64"));
  EXPECT_THAT(message({128, 128, 64, 4, 2}, 90), HasSubstr("cluster = 2"));
  EXPECT_THAT(message({256, 192, 64, 3, 1}, 90), HasSubstr("expected at most 32768"));
  EXPECT_FALSE(ampere_gemm({256, 192, 64, 3, 1}, gpu_limits(90), Dtype::bf16, 1));
}

TEST(AmpereGemm, compiles_without_spills) {
  const auto compiler = Compiler::load();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  const auto check = [&](const Tile& tile, const char* architecture, int capability, Dtype dtype,
                         int waits = 0) {
    const auto source =
        ampere_gemm(tile, gpu_limits(capability), dtype, waits > 0 ? 1 : 192, waits);
    ASSERT_TRUE(source) << source.error().message;
    const auto cubin = compiler->compile(*source, architecture);
    ASSERT_TRUE(cubin) << cubin.error().message;
    EXPECT_EQ(cubin->properties.spill_bytes, 0) << to_string(tile);
    EXPECT_EQ(cubin->properties.local_bytes, 0) << to_string(tile);
    EXPECT_TRUE(cubin->warnings.empty()) << cubin->warnings.front();
  };
  // The tiles that take the most registers, and the smallest.
  check({128, 240, 64, 3, 1}, "sm_80", 80, Dtype::bf16);
  check({128, 256, 64, 3, 1}, "sm_80", 80, Dtype::fp16);
  check({192, 96, 64, 2, 1}, "sm_89", 89, Dtype::bf16);
  check({256, 128, 64, 4, 1}, "sm_90a", 90, Dtype::bf16);
  check({64, 16, 64, 7, 1}, "sm_90a", 90, Dtype::fp16);
  check({128, 240, 64, 3, 1}, "sm_80", 80, Dtype::bf16, 192);
  check({256, 128, 64, 4, 1}, "sm_90a", 90, Dtype::bf16, 16);
}

}  // namespace
}  // namespace overlaptune::kernels
