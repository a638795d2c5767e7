// The items of a GEMM that sends rows: every order is enumerated. (tests/kernels/pushes_test
// compares the kernel's own.)

#include "strategies/waiting/push_order.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "strategies/waiting/arrivals.hpp"

namespace overlaptune {
namespace {

struct Case {
  std::int64_t ctas = 0;
  std::int64_t pushing = 0;
  std::int64_t pushes_a_group = 0;
  std::vector<std::int64_t> tiles_before{};
  std::int64_t tiles = 0;
  double pushes_a_tile = 1;
  int chunks = 1;
  bool chunk_by_chunk = false;
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
          list.push_back({ctas, pushing, pushes, {32, 64, 96}, 128, ratio});
          list.push_back({ctas, pushing, pushes, {32, 64, 96}, 128, ratio, 4, true});
          list.push_back({ctas, pushing, pushes, {300, 600}, 900, ratio, 2, false});
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
                     .chunks = c.chunks,
                     .chunk_by_chunk = c.chunk_by_chunk,
                     .tiles_before = c.tiles_before,
                     .pushes_a_tile = c.pushes_a_tile});
}

TEST(PushOrder, every_push_and_every_tile_comes_once_and_in_turn) {
  for (const Case& c : cases()) {
    const PushOrder order = order_of(c);
    ASSERT_EQ(order.pushes,
              c.pushes_a_group * c.chunks * static_cast<std::int64_t>(c.tiles_before.size()));
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
    const auto sent = sent_chunks(c.tiles_before.size(), c.chunks, c.chunk_by_chunk);
    std::vector<std::int64_t> pushed(c.tiles_before.size());  // of each group
    for (std::int64_t position = 0; position < order.pushes + c.tiles; ++position) {
      const PushOrder::Item item = order.at(position);
      if (item.pushes) {
        ++pushed[sent.at(static_cast<std::size_t>(item.number / c.pushes_a_group)).group - 1];
        continue;
      }
      for (std::size_t group = 0; group < c.tiles_before.size(); ++group) {
        if (item.number < c.tiles_before[group]) continue;
        ASSERT_EQ(pushed[group], c.pushes_a_group * c.chunks)
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

/// Of a GEMM of one wave all tiles begin at once, beside CTAs that push.
TEST(PushOrder, a_gemm_of_one_wave_begins_beside_its_pushes) {
  const PushOrder order = push_order({.ctas = 132,
                                      .pushing = 16,
                                      .pushes_a_group = 16,
                                      .chunks = 4,
                                      .chunk_by_chunk = true,
                                      .tiles_before = std::vector<std::int64_t>{16, 32, 48},
                                      .pushes_a_tile = 8});
  EXPECT_EQ(order.pushing, 16);
  EXPECT_EQ(order.homes(16), 32);
  EXPECT_EQ(order.at(31), (PushOrder::Item{.pushes = false, .number = 15}));
}

}  // namespace
}  // namespace overlaptune
