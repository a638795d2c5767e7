// What a GEMM that stores tiles at their owners fetches, by the GPU's own headers.

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "strategies/peer_store/store_order.hpp"
#include "strategies/peer_store/stored_tiles.cuh"

namespace overlaptune {
namespace {

namespace device = kernels::device;
constexpr int kRanks = 3;
constexpr int kGroups = 16;
using Params = device::AtRanksParams<kRanks, kGroups, true>;

int as_int(std::int64_t value) {
  return static_cast<int>(value);
}

Params params_of(const StoreOrder& order, int rank) {
  Params params{.rank = rank,
                .groups_count = as_int(static_cast<std::int64_t>(order.groups.size()))};
  for (std::size_t i = 0; i < order.groups.size(); ++i) {
    params.groups[i].end = as_int(order.groups[i].tiles.end);
  }
  return params;
}

/// Groups of 1 to 12 tiles.
StoreOrder drawn_order(std::mt19937& random) {
  const auto from = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random()) % (most - least + 1);
  };
  std::vector<Cut> cuts;
  std::int64_t tiles = 0;
  const std::int64_t groups = from(1, kGroups);
  for (std::int64_t i = 0; i < groups; ++i) cuts.push_back({.tiles = tiles += from(1, 12)});
  const Problem problem{
      .op = Op::gemm_all_reduce, .m = 64, .n = 64 * tiles, .k = 64, .ranks = kRanks};
  return store_order(problem, tile_order(problem, {64, 64, 64, 4, 1}, 1), cuts);
}

TEST(Fetches, tiles_of_a_group_are_those_of_the_other_ranks) {
  std::mt19937 random(4);
  for (int round = 0; round < 100 && !testing::Test::HasFailure(); ++round) {
    const StoreOrder order = drawn_order(random);
    for (int rank = 0; rank < kRanks; ++rank) {
      const Params params = params_of(order, rank);
      for (std::size_t group = 0; group < order.groups.size(); ++group) {
        const auto number = as_int(static_cast<std::int64_t>(group));
        std::vector<int> found(static_cast<std::size_t>(order.groups[group].tiles.count()));
        const int count = device::subtiles_to_fetch<1>(params, number);
        for (int i = 0; i < count; ++i) {
          const int tile = device::tile_to_fetch(params, number, i);
          ++found.at(static_cast<std::size_t>(tile - order.groups[group].tiles.begin));
        }
        const TileRange own = order.share(group, rank);
        for (std::size_t i = 0; i < found.size(); ++i) {
          const std::int64_t tile = order.groups[group].tiles.begin + static_cast<std::int64_t>(i);
          ASSERT_EQ(found[i], tile < own.begin || tile >= own.end ? 1 : 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace overlaptune
