// The items of a GEMM that sends rows: every order is enumerated, and the GPU's own source text
// runs here beside it.

#include "core/push_order.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#define __device__
#define __forceinline__ inline
#define MOST_RANKS 4
#define WAITS 4

namespace device {

using u32 = unsigned;
using u64 = unsigned long long;
struct uint4 {
  u32 x, y, z, w;
};
struct Place {
  int block, row, column;
};
template <class Order>
Place place_of(const Order&, int) {
  return {};
}
struct Run {
  int rank, ranks;
  int items, clusters;
  struct Words {
    u32 counters[4];
  } * words[MOST_RANKS];
};
enum { kCounter };
inline bool wait_for(const Run&, const u32*, u32, u32, int) {
  return true;
}
inline void fence_copies() {}

#include "kernels/device/rows.cu"

}  // namespace device

namespace overlaptune {
namespace {

struct Case {
  std::int64_t ctas = 0;
  std::int64_t pushing = 0;
  std::int64_t pushes_a_group = 0;
  std::vector<std::int64_t> tiles_before{};
  std::int64_t tiles = 0;
  double pushes_a_tile = 1;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const std::int64_t ctas : {1, 2, 5, 132}) {
    for (const std::int64_t pushing : {1, 2, 16, 64}) {
      for (const std::int64_t pushes : {1, 3, 16}) {
        for (const double ratio : {0.1, 1.0, 7.3}) {
          // A few own tiles, and many; groups of a tile, and large ones.
          list.push_back({ctas, pushing, pushes, {1}, 2, ratio});
          list.push_back({ctas, pushing, pushes, {3, 4, 5}, 6, ratio});
          list.push_back({ctas, pushing, pushes, {300, 300, 450}, 700, ratio});
          list.push_back({ctas, pushing, pushes, {600}, 1200, ratio});
        }
      }
    }
  }
  return list;
}

PushOrder order_of(const Case& c) {
  return push_order({.ctas = c.ctas,
                     .pushing = c.pushing,
                     .pushes_a_group = c.pushes_a_group,
                     .tiles_before = c.tiles_before,
                     .pushes_a_tile = c.pushes_a_tile});
}

TEST(PushOrder, every_push_and_every_tile_comes_once_and_in_turn) {
  for (const Case& c : cases()) {
    const PushOrder order = order_of(c);
    ASSERT_EQ(order.pushes, c.pushes_a_group * static_cast<std::int64_t>(c.tiles_before.size()));
    std::int64_t pushes = 0;
    std::int64_t tiles = 0;
    for (std::int64_t position = 0; position < order.pushes + c.tiles; ++position) {
      const PushOrder::Item item = order.at(position);
      ASSERT_EQ(item.number, item.pushes ? pushes : tiles);
      ASSERT_EQ(item.pushes ? order.position_of_push(pushes) : order.position_of_tile(tiles),
                position);
      ++(item.pushes ? pushes : tiles);
    }
    EXPECT_EQ(pushes, order.pushes);
    EXPECT_EQ(tiles, c.tiles);
  }
}

TEST(PushOrder, a_tile_comes_behind_the_pushes_of_its_rows) {
  for (const Case& c : cases()) {
    const PushOrder order = order_of(c);
    std::int64_t pushed = 0;
    for (std::int64_t position = 0; position < order.pushes + c.tiles; ++position) {
      const PushOrder::Item item = order.at(position);
      if (item.pushes) {
        ++pushed;
        continue;
      }
      for (std::size_t group = 0; group < c.tiles_before.size(); ++group) {
        if (item.number < c.tiles_before[group]) continue;
        ASSERT_GE(pushed, static_cast<std::int64_t>(group + 1) * c.pushes_a_group)
            << "tile " << item.number << " of " << c.tiles;
      }
    }
  }
}

TEST(PushOrder, some_ctas_push_and_the_others_multiply) {
  // Pushes of an eighth of a tile's time, on 16 of 132 CTAs.
  const PushOrder order = push_order({.ctas = 132,
                                      .pushing = 16,
                                      .pushes_a_group = 16,
                                      .tiles_before = std::vector<std::int64_t>{2000, 2100, 2200},
                                      .pushes_a_tile = 8});
  std::int64_t pushes = 0;
  for (std::int64_t position = 0; position < 132; ++position) pushes += order.at(position).pushes;
  EXPECT_EQ(pushes, 16);  // those that begin at once
}

TEST(PushOrder, the_kernel_has_the_same_order) {
  for (const Case& c : cases()) {
    const PushOrder order = order_of(c);
    device::Peers peers{.pushes = static_cast<int>(order.pushes),
                        .first = static_cast<int>(order.first),
                        .period_tiles = static_cast<int>(order.period_tiles),
                        .period_pushes = static_cast<int>(order.period_pushes)};
    for (std::int64_t position = 0; position < order.pushes + c.tiles; ++position) {
      const PushOrder::Item item = order.at(position);
      const device::Turn turn = device::turn_at(peers, static_cast<int>(position));
      ASSERT_EQ(turn.pushes, item.pushes);
      ASSERT_EQ(turn.number, item.number);
    }
  }
}

TEST(PushOrder, clusters_that_go_on_by_steps_take_each_item_once) {
  for (const Case& c : cases()) {
    const PushOrder order = order_of(c);
    const int items = static_cast<int>(order.pushes + c.tiles);
    const int clusters = std::min(items, static_cast<int>(c.ctas));
    const device::Run run{.items = items, .clusters = clusters};
    const device::Peers peers{.pushes = static_cast<int>(order.pushes),
                              .first = static_cast<int>(order.first),
                              .period_tiles = static_cast<int>(order.period_tiles),
                              .period_pushes = static_cast<int>(order.period_pushes),
                              .pushing = static_cast<int>(order.pushing)};
    std::vector<int> taken(static_cast<std::size_t>(items));
    for (int cluster = 0; cluster < clusters; ++cluster) {
      const bool pushes = order.at(cluster).pushes;
      for (int at = cluster, before = -1; at < items; at = device::step_from(run, peers, at)) {
        ASSERT_GT(at, before);
        before = at;
        ++taken[static_cast<std::size_t>(at)];
        ASSERT_TRUE(order.pushing == 0 || order.at(at).pushes == pushes);
      }
    }
    EXPECT_EQ(taken, std::vector<int>(taken.size(), 1)) << c.ctas << " CTAs, " << c.pushing;
  }
}

TEST(PushOrder, shares_of_a_group_cover_its_rows_once) {
  std::vector<device::uint4> rows(115);
  std::vector<device::uint4> matrix(rows.size());
  unsigned counter = 0;
  for (const int shares : {1, 4, 7, 115, 200}) {
    device::Peers peers{.shares = shares};
    const int count = static_cast<int>(rows.size());
    peers.arrivals[2] = {.from = rows.data(),
                         .to = matrix.data(),
                         .receiver = &counter,
                         .vectors = count,
                         .most = (count + shares - 1) / shares};
    std::vector<int> sent(rows.size());
    for (int share = 0; share < shares; ++share) {
      device::Push push;
      device::put_push(peers, shares + share, push);  // behind the shares of group 1
      EXPECT_EQ(push.counter, &counter);
      EXPECT_EQ(push.from - rows.data(), push.to - matrix.data());
      EXPECT_LE(push.vectors, push.most);
      for (int i = 0; i < push.vectors; ++i) {
        ++sent[static_cast<std::size_t>(push.from - rows.data() + i)];
      }
    }
    EXPECT_EQ(sent, std::vector<int>(rows.size(), 1)) << shares << " shares";
  }
}

}  // namespace
}  // namespace overlaptune
