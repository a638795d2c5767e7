// The pushes of a GEMM that sends rows, by the GPU's own header: the order of its items is that of
// the host, and shares cover the rows of a group.

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/rows.cuh"
#include "strategies/waiting/push_order.hpp"

namespace overlaptune {
namespace {

namespace device = kernels::device;
using Params = device::RowsParams<4>;

TEST(Pushes, the_kernel_has_the_same_order) {
  for (const std::vector<std::int64_t>& tiles_before :
       std::vector<std::vector<std::int64_t>>{{1}, {3, 4, 5}, {300, 300, 450}, {600}}) {
    const PushOrder order = push_order({.ctas = 132,
                                        .pushing = 16,
                                        .pushes_a_group = 3,
                                        .tiles_before = tiles_before,
                                        .pushes_a_tile = 7.3});
    Params rows{.pushes = static_cast<int>(order.pushes),
                .first = static_cast<int>(order.first),
                .period_tiles = static_cast<int>(order.period_tiles),
                .period_pushes = static_cast<int>(order.period_pushes)};
    for (std::int64_t position = 0; position < order.pushes + 700; ++position) {
      const PushOrder::Item item = order.at(position);
      const device::Turn turn = device::turn_at(rows, static_cast<int>(position));
      ASSERT_EQ(turn.pushes, item.pushes);
      ASSERT_EQ(turn.number, item.number);
    }
  }
}

TEST(Pushes, clusters_that_go_on_by_steps_take_each_item_once) {
  const std::vector<std::int64_t> tiles_before{40, 60, 90};
  for (const int ctas : {1, 2, 5, 17, 132}) {
    for (const int pushing : {1, 2, 16}) {
      for (const int tiles : {91, 400}) {
        const PushOrder order = push_order({.ctas = ctas,
                                            .pushing = pushing,
                                            .pushes_a_group = 3,
                                            .tiles_before = tiles_before,
                                            .pushes_a_tile = 0.4});
        const int items = static_cast<int>(order.pushes) + tiles;
        const device::Run run{.items = items, .clusters = std::min(items, ctas)};
        const Params rows{.pushes = static_cast<int>(order.pushes),
                          .first = static_cast<int>(order.first),
                          .period_tiles = static_cast<int>(order.period_tiles),
                          .period_pushes = static_cast<int>(order.period_pushes),
                          .pushing = static_cast<int>(order.pushing)};
        std::vector<int> taken(static_cast<std::size_t>(items));
        for (int cluster = 0; cluster < run.clusters; ++cluster) {
          const bool pushes = order.at(cluster).pushes;
          for (int at = cluster, before = -1; at < items; at = step_from(run, rows, at)) {
            ASSERT_GT(at, before);
            before = at;
            ++taken[static_cast<std::size_t>(at)];
            ASSERT_TRUE(order.pushing == 0 || order.at(at).pushes == pushes);
          }
        }
        EXPECT_EQ(taken, std::vector<int>(taken.size(), 1)) << ctas << " CTAs, " << pushing;
      }
    }
  }
}

TEST(Pushes, shares_of_a_group_cover_its_rows_once) {
  std::vector<device::Vector> rows(115);
  std::vector<device::Vector> matrix(rows.size());
  unsigned counter = 0;
  for (const int shares : {1, 4, 7, 115, 200}) {
    Params all{.chunks = 1, .shares = shares};
    const int count = static_cast<int>(rows.size());
    all.arrivals[2] = {.from = rows.data(),
                       .to = matrix.data(),
                       .receiver = &counter,
                       .vectors = count,
                       .most = (count + shares - 1) / shares};
    ASSERT_EQ(device::parts_of_push(all), 1);
    std::vector<int> sent(rows.size());
    for (int share = 0; share < shares; ++share) {
      // Behind the shares of group 1.
      const device::Push push = device::push_of<true>(all, shares + share, 0);
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

/// Two groups of 5 and 3 rows of 29 vectors, in chunks of 2 steps: 16 vectors, and 13.
TEST(Pushes, chunks_of_columns_come_one_after_another_each_with_a_counter) {
  constexpr int kRowVectors = 29;
  constexpr std::array<int, 2> kRows{5, 3};
  std::vector<device::Vector> rows(kRowVectors * (kRows[0] + kRows[1]));
  std::vector<device::Vector> matrix(rows.size());
  std::array<unsigned, 6> counters{};  // of 3 groups, the first of which nobody sends
  for (const int shares : {1, 2, 4, 7}) {
    Params all{.arrivals_count = 3,
               .chunk_steps = 2,
               .chunks = 2,
               .row_vectors = kRowVectors,
               .shares = shares};
    int first = 0;
    for (std::size_t group = 1; group < 3; ++group) {
      const int count = kRows[group - 1];
      all.arrivals[group] = {.from = rows.data() + first,
                             .to = matrix.data() + first,
                             .receiver = counters.data() + group,
                             .vectors = kRowVectors * count,
                             .most = (count + shares - 1) / shares * kRowVectors};
      first += kRowVectors * count;
    }
    ASSERT_EQ(device::parts_of_push(all), 4);
    std::vector<int> sent(rows.size());
    for (int share = 0; share < shares; ++share) {
      for (int part = 0; part < 4; ++part) {
        const device::Push push = device::push_of<true>(all, share, part);
        EXPECT_EQ(push.counter - counters.data(), part / 2 * 3 + part % 2 + 1);
        EXPECT_EQ(push.width, part < 2 ? 16 : 13);
        EXPECT_EQ(push.from - rows.data(), push.to - matrix.data());
        EXPECT_EQ(push.vectors % push.width, 0);
        EXPECT_LE(push.vectors, push.most);
        for (int i = 0; i < push.vectors; ++i) {
          const auto at = push.from - rows.data() + i / push.width * kRowVectors + i % push.width;
          EXPECT_EQ(at % kRowVectors / 16, part / 2);
          ++sent[static_cast<std::size_t>(at)];
        }
      }
    }
    EXPECT_EQ(sent, std::vector<int>(rows.size(), 1)) << shares << " shares";
  }
}

}  // namespace
}  // namespace overlaptune
