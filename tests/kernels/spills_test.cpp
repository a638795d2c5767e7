// Generated kernels fit the registers that they have. NVRTC works for most of a minute here, and it
// is no code of this program: a sanitizer would make it slower and find nothing.

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/gpu.hpp"
#include "kernels/ampere_gemm.hpp"
#include "kernels/compile/tiled_source.hpp"
#include "kernels/hopper_gemm.hpp"
#include "strategies/waiting/arrivals.hpp"
#include "tests/kernels/sources.hpp"

namespace overlaptune::kernels {
namespace {

using ::testing::HasSubstr;
using RegisteredKernels = WithNvrtc;

const std::vector<Tile> kTiles{
    {64, 16, 64, 7, 1},   {128, 256, 64, 4, 1}, {192, 192, 64, 4, 1}, {256, 192, 64, 3, 1},
    {128, 256, 64, 4, 2}, {192, 48, 64, 5, 2},  {192, 256, 64, 3, 1}, {192, 208, 64, 3, 2},
    {128, 192, 64, 5, 2}, {256, 96, 64, 4, 1},  {192, 128, 64, 4, 1}, {64, 256, 64, 4, 1},
    {160, 256, 64, 4, 2}, {112, 128, 64, 7, 1}, {240, 192, 64, 3, 1}, {48, 64, 64, 7, 2},
    {128, 176, 64, 5, 2}, {192, 256, 64, 3, 2}, {192, 240, 64, 3, 2}, {128, 192, 64, 4, 2},
    {192, 128, 64, 4, 2}, {256, 96, 64, 4, 2},  {256, 160, 64, 3, 1}, {192, 160, 64, 3, 1},
    {160, 192, 64, 3, 2}, {128, 256, 64, 3, 2}, {192, 96, 64, 3, 2},  {112, 192, 64, 3, 2},
    {256, 128, 64, 3, 1}, {256, 160, 64, 4, 1}, {192, 208, 64, 3, 1}, {64, 192, 64, 6, 1}};

/// Compiles kernels with each tile that they can have.
void expect_no_spills(const std::vector<TiledKernel>& kernels) {
  const auto compiler = Compiler::load();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  const GpuLimits limits = gpu_limits(kHopper);
  for (const Tile& tile : kTiles) {
    for (TiledKernel kernel : kernels) {
      const bool large = tile.block_m * tile.block_n > limits.largest_store_area;
      if (kernel.ranks > 0 && large) continue;
      if (kernel.tiles_push && !may_push(tile)) continue;
      kernel.tile = tile;
      kernel.tile.block_k = block_k_of(kernel.elements);
      if (!is_feasible(kernel.tile, limits, kernel.elements)) continue;  // with scales
      const auto source = hopper_gemm(kernel);
      ASSERT_TRUE(source);
      const auto cubin = compiler->compile(*source, "sm_90a");
      ASSERT_TRUE(cubin) << cubin.error().message;
      EXPECT_EQ(cubin->properties.spill_bytes, 0) << to_string(*source);
      EXPECT_EQ(cubin->properties.local_bytes, 0) << to_string(*source);
      EXPECT_LE(cubin->properties.static_shared_bytes +
                    hopper_layout(kernel.tile, kernel.elements)->shared_bytes,
                limits.shared_memory_bytes)
          << to_string(*source);
      EXPECT_TRUE(cubin->warnings.empty()) << cubin->warnings.front();
    }
  }
}

TEST(HopperGemm, compiles_without_spills) {
  expect_no_spills({{.elements = Elements::bf16, .regions = 16},
                    {.elements = Elements::fp16, .regions = 16},
                    {.elements = Elements::e4m3_rows_bf16, .regions = 16},
                    {.elements = Elements::e4m3_rows_bf16_exact, .regions = 16}});
}

TEST(HopperGemm, compiles_without_spills_where_it_waits_for_rows) {
  expect_no_spills({{.elements = Elements::bf16, .regions = 16, .waits = true},
                    {.elements = Elements::e4m3_rows_bf16, .regions = 16, .waits = true},
                    {.elements = Elements::e4m3_rows_bf16_exact, .regions = 16, .waits = true}});
}

TEST(HopperGemm, compiles_without_spills_where_its_tiles_push) {
  std::vector<TiledKernel> kernels;
  for (const Elements elements :
       {Elements::bf16, Elements::e4m3_rows_bf16, Elements::e4m3_rows_bf16_exact}) {
    kernels.push_back({.elements = elements, .regions = 16, .waits = true, .tiles_push = true});
  }
  expect_no_spills(kernels);
}

TEST(HopperGemm, compiles_without_spills_where_it_stores_at_ranks) {
  expect_no_spills({{.elements = Elements::bf16, .regions = 16, .ranks = 2},
                    {.elements = Elements::fp16, .regions = 192, .ranks = 8},
                    {.elements = Elements::bf16, .regions = 192, .ranks = 8},
                    {.elements = Elements::e4m3_rows_bf16, .regions = 192, .ranks = 8},
                    {.elements = Elements::e4m3_rows_bf16_exact, .regions = 192, .ranks = 8}});
}

TEST(AmpereGemm, compiles_without_spills) {
  const auto compiler = Compiler::load();
  if (!compiler) GTEST_SKIP() << compiler.error().message;
  const auto check = [&](const Tile& tile, const char* architecture, int capability,
                         Elements elements) {
    const auto source = ampere_gemm(tile, gpu_limits(capability), elements, 192);
    ASSERT_TRUE(source) << source.error().message;
    const auto cubin = compiler->compile(*source, architecture);
    ASSERT_TRUE(cubin) << cubin.error().message;
    EXPECT_EQ(cubin->properties.spill_bytes, 0) << to_string(tile);
    EXPECT_EQ(cubin->properties.local_bytes, 0) << to_string(tile);
    EXPECT_TRUE(cubin->warnings.empty()) << cubin->warnings.front();
  };
  // The tiles that take the most registers, and the smallest.
  check({128, 240, 64, 3, 1}, "sm_80", 80, Elements::bf16);
  check({128, 256, 64, 3, 1}, "sm_80", 80, Elements::fp16);
  check({192, 96, 64, 2, 1}, "sm_89", 89, Elements::bf16);
  check({256, 128, 64, 4, 1}, "sm_90a", 90, Elements::bf16);
  check({64, 16, 64, 7, 1}, "sm_90a", 90, Elements::fp16);
  check({128, 256, 64, 4, 1}, "sm_100", 100, Elements::bf16);
  check({192, 96, 64, 2, 1}, "sm_120", 120, Elements::bf16);
  check({128, 240, 64, 3, 1}, "sm_100", 100, Elements::bf16);
}

// A few of the kernels; scripts/test compiles all.
TEST_F(RegisteredKernels, compile_without_spills_and_local_memory) {
  for (const char* architecture : {"sm_80", "sm_89", "sm_90a", "sm_100", "sm_120"}) {
    const auto sources = kernels_of(architecture);
    for (std::size_t i = 0; i < sources.size(); i += 71) {
      const KernelSource& source = sources[i];
      const auto cubin = compiler->compile(source, architecture);
      ASSERT_TRUE(cubin) << cubin.error().message;
      EXPECT_EQ(cubin->properties.spill_bytes, 0) << to_string(source);
      EXPECT_EQ(cubin->properties.local_bytes, 0) << to_string(source);
      EXPECT_THAT(cubin->bytes, HasSubstr(".text." + cubin->symbol));
    }
  }
}

}  // namespace
}  // namespace overlaptune::kernels
