#include "core/dtype.hpp"

#include <gtest/gtest.h>

#include "core/gpu.hpp"
#include "core/platform.hpp"
#include "core/staging.hpp"
#include "core/tiling.hpp"

namespace overlaptune {
namespace {

TEST(Dtype, has_one_row_of_traits_in_its_order) {
  for (const auto& [dtype, name] : NamesOf<Dtype>::all) {
    EXPECT_EQ(traits_of(dtype).dtype, dtype) << name;
    EXPECT_GT(bytes_of(dtype), 0) << name;
    // A class is named after one of its members.
    EXPECT_EQ(rate_class_of(rate_class_of(dtype)), rate_class_of(dtype)) << name;
  }
  EXPECT_EQ(rate_class_of(Dtype::fp16), rate_class_of(Dtype::bf16));
}

TEST(Dtype, its_bytes_say_what_rows_and_tiles_must_be) {
  for (const auto& [dtype, name] : NamesOf<Dtype>::all) {
    const std::int64_t bytes = bytes_of(dtype);
    EXPECT_EQ(row_multiple(dtype) * bytes, 16) << name;
    EXPECT_EQ(block_k_of(dtype) * bytes, 128) << name;

    Problem problem{Op::gemm_all_reduce, 64, 1024, 1024, dtype, 2};
    EXPECT_TRUE(validated(problem)) << name;
    EXPECT_EQ(collective_bytes(problem).count, 64 * 1024 * bytes) << name;
    const TileOrder order = tile_order(problem, {64, 128, block_k_of(dtype), 3, 1}, 1);
    EXPECT_EQ(cut_at(order, 3).bytes.count, 64 * 3 * 128 * bytes) << name;

    Platform platform{.gpu_count = 2};
    platform.memory = {(64 * 1024 + 1024 * 1024 + 64 * 1024) * bytes};
    EXPECT_TRUE(fits(problem, platform)) << name;
    --platform.memory.count;
    EXPECT_FALSE(fits(problem, platform)) << name;

    problem.n += row_multiple(dtype) / 2;
    const auto refused = validated(problem);
    ASSERT_FALSE(refused) << name;
    EXPECT_NE(refused.error().message.find("multiple of " + std::to_string(row_multiple(dtype))),
              std::string::npos);

    for (const Tile& tile : feasible_tiles(gpu_limits(90), dtype)) {
      EXPECT_EQ(tile.block_k, block_k_of(dtype));
      const std::int64_t stage = bytes * (tile.block_m + tile.block_n) * tile.block_k;
      const std::int64_t shared = staging_of(tile, gpu_limits(90), dtype).shared_bytes;
      EXPECT_LE(shared, 227 * 1024) << to_string(tile);
      EXPECT_GT(shared, tile.stages * stage) << to_string(tile);
    }
  }
}

TEST(Dtype, cuts_hold_the_bytes_of_their_elements) {
  TileOrder order{
      .block_rows = 256, .n = 512, .blocks = 2, .block_m = 128, .block_n = 128, .element_bytes = 2};
  const std::int64_t two = cut_at(order, 6).bytes.count;
  order.element_bytes = 1;
  EXPECT_EQ(two, 2 * cut_at(order, 6).bytes.count);
}

}  // namespace
}  // namespace overlaptune
