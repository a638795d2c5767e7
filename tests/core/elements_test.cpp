#include "core/elements.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/config/staging.hpp"
#include "core/config/tiling.hpp"
#include "core/gpu.hpp"
#include "core/platform.hpp"

namespace overlaptune {
namespace {

TEST(Elements, has_one_row_of_traits_in_its_order) {
  for (const auto& [elements, name] : NamesOf<Elements>::all) {
    EXPECT_EQ(traits_of(elements).elements, elements) << name;
    EXPECT_GT(operand_bytes(elements), 0) << name;
    EXPECT_GT(result_bytes(elements), 0) << name;
    // A class is named after one of its members.
    EXPECT_EQ(rate_class_of(rate_class_of(elements)), rate_class_of(elements)) << name;
  }
  EXPECT_EQ(rate_class_of(Elements::fp16), rate_class_of(Elements::bf16));
  EXPECT_EQ(rate_class_of(Elements::e4m3_tensor_fp16), rate_class_of(Elements::e4m3_rows_bf16));
  EXPECT_NE(rate_class_of(Elements::e4m3_rows_bf16), rate_class_of(Elements::bf16));
  EXPECT_NE(rate_class_of(Elements::e4m3_tensor_fp16_exact),
            rate_class_of(Elements::e4m3_tensor_fp16));
}

TEST(Elements, its_bytes_say_what_rows_and_tiles_must_be) {
  for (const auto& [elements, name] : NamesOf<Elements>::all) {
    const std::int64_t operand = operand_bytes(elements);
    const std::int64_t result = result_bytes(elements);
    EXPECT_EQ(k_multiple(elements) * operand, 16) << name;
    // cuBLASLt wants 16 columns of 8-bit operands; TMA 16 bytes of C.
    EXPECT_EQ(n_multiple(elements) * operand, 16) << name;
    EXPECT_EQ(block_k_of(elements) * operand, 128) << name;

    Problem problem{Op::gemm_all_reduce, 64, 1024, 1024, elements, 2};
    EXPECT_TRUE(validated(problem)) << name;
    EXPECT_EQ(collective_bytes(problem).count, 64 * 1024 * result) << name;
    const Problem gathered{Op::all_gather_gemm, 64, 512, 1024, elements, 2};
    EXPECT_EQ(collective_bytes(gathered).count, 64 * 1024 * operand) << name;
    const TileOrder order = tile_order(problem, {64, 128, block_k_of(elements), 3, 1}, 1);
    EXPECT_EQ(cut_at(order, 3).bytes.count, 64 * 3 * 128 * result) << name;

    Platform platform{.gpu_count = 2};
    platform.memory = {(64 * 1024 + 1024 * 1024) * operand + 64 * 1024 * result};
    EXPECT_TRUE(fits(problem, platform)) << name;
    --platform.memory.count;
    EXPECT_FALSE(fits(problem, platform)) << name;

    Problem odd_n = problem;
    odd_n.n += n_multiple(elements) / 2;
    const auto refused = validated(odd_n);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().message,
              fmt::format("problem: n = {}: expected a multiple of {}", odd_n.n, 16 / operand));
    Problem odd_k = problem;
    odd_k.k += k_multiple(elements) / 2;
    const auto refused_k = validated(odd_k);
    ASSERT_FALSE(refused_k) << name;
    EXPECT_EQ(refused_k.error().message,
              fmt::format("problem: k = {}: expected a multiple of {}", odd_k.k, 16 / operand));

    for (const Tile& tile : feasible_tiles(gpu_limits(90), elements)) {
      EXPECT_EQ(tile.block_k, block_k_of(elements));
      const std::int64_t stage = operand * (tile.block_m + tile.block_n) * tile.block_k;
      const std::int64_t shared = staging_of(tile, gpu_limits(90), elements).shared_bytes;
      EXPECT_LE(shared, 227 * 1024) << to_string(tile);
      EXPECT_GT(shared, tile.stages * stage) << to_string(tile);
    }
  }
}

/// Exact sums need registers for those of a step beside those of all steps; tiles of more than 64
/// rows are not taken in turn. (tests/kernels/spills_test.cpp compiles some of them.)
TEST(Elements, exact_sums_have_smaller_tiles) {
  const GpuLimits& limits = gpu_limits(90);
  const Elements exact = Elements::e4m3_rows_bf16_exact;
  for (const auto& [rows, columns] :
       {std::pair{64, 192}, {128, 192}, {192, 128}, {256, 128}, {112, 192}}) {
    EXPECT_TRUE(is_feasible({rows, columns, 128, 3, 1}, limits, exact)) << rows << "x" << columns;
    const Tile tile{rows, columns, 128, 3, 1};
    EXPECT_EQ(staging_of(tile, limits, exact).ping_pong, tile.down() == 64) << to_string(tile);
  }
  for (const auto& [rows, columns] :
       {std::pair{64, 208}, {128, 208}, {192, 144}, {256, 144}, {144, 192}}) {
    const Tile tile{rows, columns, 128, 3, 1};
    EXPECT_TRUE(is_feasible(tile, limits, Elements::e4m3_rows_bf16)) << to_string(tile);
    EXPECT_FALSE(is_feasible(tile, limits, exact)) << to_string(tile);
  }
}

}  // namespace
}  // namespace overlaptune
