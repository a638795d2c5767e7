// The fetches of a GEMM that stores tiles at their owners, by the GPU's own headers: the order of
// its items is that of the host.

#include <random>

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

Params params_of(const StoreOrder& order, int rank, std::int64_t shares) {
  Params params{.rank = rank,
                .groups_count = as_int(static_cast<std::int64_t>(order.groups.size())),
                .own_later = 1};
  params.fetches.shares = as_int(shares);
  std::int64_t computed = 0;
  std::int64_t own_before = 0;
  for (std::size_t i = 0; i < order.groups.size(); ++i) {
    const std::int64_t own = order.share(i, rank).count();
    computed += order.groups[i].tiles.count() - own + own_before;
    own_before = own;
    params.groups[i] = {as_int(order.groups[i].tiles.end), as_int(computed),
                        as_int(order.groups[i].slot), 0};
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

template <int kTilesAnItem>
void expect_the_order_of_the_host(const StoreOrder& order, std::int64_t shares,
                                  std::mt19937& random) {
  const FetchOrder fetches{.shares = shares, .tiles_an_item = kTilesAnItem};
  for (int rank = 0; rank < kRanks; ++rank) {
    const Params params = params_of(order, rank, shares);
    int near = -1;
    const auto expect_at = [&](std::int64_t position) {
      const StoreItem item = store_item(order, fetches, rank, position);
      const device::FetchTurn turn =
          device::fetch_turn<kTilesAnItem>(params, as_int(order.tiles()), as_int(position), near);
      ASSERT_EQ(turn.fetches, item.fetches) << position;
      ASSERT_EQ(turn.number, item.number) << position;
      if (item.fetches) {
        ASSERT_EQ(turn.group, as_int(static_cast<std::int64_t>(item.group))) << position;
      }
    };
    const std::int64_t items = items_of(order, fetches);
    for (std::int64_t position = 0; position < items; ++position) expect_at(position);
    for (int i = 0; i < 100; ++i) expect_at(static_cast<std::int64_t>(random()) % items);
  }
}

TEST(Fetches, the_kernel_has_the_same_order) {
  std::mt19937 random(1);
  for (int round = 0; round < 100 && !testing::Test::HasFailure(); ++round) {
    const StoreOrder order = drawn_order(random);
    const auto shares = static_cast<std::int64_t>(1 + random() % 5);
    expect_the_order_of_the_host<1>(order, shares, random);
    expect_the_order_of_the_host<2>(order, shares, random);
  }
}

/// Each tile of the other ranks is fetched once, by whatever shares.
TEST(Fetches, shares_have_all_tiles_of_the_other_ranks) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const StoreOrder order = drawn_order(random);
    for (int rank = 0; rank < kRanks; ++rank) {
      const Params params = params_of(order, rank, 1);
      for (std::size_t group = 0; group < order.groups.size(); ++group) {
        std::vector<int> found(static_cast<std::size_t>(order.groups[group].tiles.count()));
        int tile = 0;
        for (int number = 0; device::find_sums(params, static_cast<int>(group), number, tile);
             ++number) {
          ++found.at(static_cast<std::size_t>(tile - order.groups[group].tiles.begin));
        }
        const TileRange own = order.share(group, rank);
        for (std::size_t i = 0; i < found.size(); ++i) {
          const std::int64_t number =
              order.groups[group].tiles.begin + static_cast<std::int64_t>(i);
          ASSERT_EQ(found[i], number < own.begin || number >= own.end ? 1 : 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace overlaptune
