#include "core/config/staging.hpp"

#include <set>

#include <gtest/gtest.h>

#include "core/gpu.hpp"

namespace overlaptune {
namespace {

/// The kernel's compiler knows the buffer of a subtile where their numbers divide; else they are
/// few.
TEST(Staging, buffers_divide_the_subtiles_or_are_two_or_four) {
  const GpuLimits limits = gpu_limits(90);
  std::set<int> numbers;
  for (const Tile& tile : feasible_tiles(limits, Elements::bf16)) {
    const Staging staging = staging_of(tile, limits, Elements::bf16);
    EXPECT_GE(staging.buffers, 1) << to_string(tile);
    EXPECT_LE(staging.buffers, staging.subtiles) << to_string(tile);
    EXPECT_TRUE(staging.subtiles % staging.buffers == 0 || staging.buffers == 2 ||
                staging.buffers == 4)
        << to_string(tile) << ": " << staging.buffers << " of " << staging.subtiles;
    EXPECT_LE(staging.shared_bytes, limits.shared_memory_bytes) << to_string(tile);
    numbers.insert(staging.buffers);
  }
  EXPECT_GT(numbers.size(), 2U);
}

}  // namespace
}  // namespace overlaptune
