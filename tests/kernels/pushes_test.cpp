// The pushes of a GEMM that sends rows, by the GPU's own header: the order of its items is that of
// the host, and shares cover the rows of a group.

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/rows.cuh"
#include "strategies/waiting/arrivals.hpp"
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

/// The clusters of a launch take each item once by equal steps; those with a home begin with it.
void expect_each_once(const PushedGemm& gemm, int tiles) {
  const PushOrder order = push_order(gemm);
  const int items = static_cast<int>(order.pushes) + tiles;
  const device::Run run{.items = items, .clusters = std::min(items, static_cast<int>(gemm.ctas))};
  const Params rows{.pushes = static_cast<int>(order.pushes),
                    .first = static_cast<int>(order.first),
                    .period_tiles = static_cast<int>(order.period_tiles),
                    .period_pushes = static_cast<int>(order.period_pushes),
                    .pushing = static_cast<int>(order.pushing)};
  std::vector<int> taken(static_cast<std::size_t>(items));
  for (int cluster = 0; cluster < run.clusters; ++cluster) {
    const int start = start_of(rows, cluster);
    if (cluster < order.homes(gemm.tiles_before.front())) {
      ASSERT_EQ(start, cluster);
      const PushOrder::Item home = order.at(cluster);
      ASSERT_TRUE(home.pushes || home.number < gemm.tiles_before.front()) << "waits for nothing";
    }
    if (start >= items) continue;
    const bool pushes = order.at(start).pushes;
    for (int at = start, before = -1; at < items; at = step_from(run, rows, at)) {
      ASSERT_GT(at, before);
      before = at;
      ++taken[static_cast<std::size_t>(at)];
      ASSERT_TRUE(order.pushing == 0 || order.at(at).pushes == pushes);
    }
  }
  EXPECT_EQ(taken, std::vector<int>(taken.size(), 1));
}

TEST(Pushes, clusters_that_go_on_by_steps_take_each_item_once) {
  const std::vector<std::int64_t> many{40, 60, 90};
  const std::vector<std::int64_t> few{8, 16, 24};  // all tiles begin at once
  for (const int ctas : {1, 2, 5, 17, 132}) {
    for (const int pushing : {1, 2, 16}) {
      for (const int chunks : {1, 2, 5}) {
        for (const bool chunk_by_chunk : {false, true}) {
          SCOPED_TRACE(testing::Message() << ctas << " CTAs, " << pushing << " pushing, " << chunks
                                          << " chunks" << (chunk_by_chunk ? " in turn" : ""));
          PushedGemm gemm{.ctas = ctas,
                          .pushing = pushing,
                          .pushes_a_group = 3,
                          .chunks = chunks,
                          .chunk_by_chunk = chunk_by_chunk,
                          .tiles_before = many,
                          .pushes_a_tile = 0.4};
          for (const int tiles : {91, 400}) expect_each_once(gemm, tiles);
          gemm.tiles_before = few;
          expect_each_once(gemm, 32);
        }
      }
    }
  }
}

TEST(Pushes, shares_of_a_group_cover_its_rows_once) {
  std::vector<device::Vector> rows(115);
  std::vector<device::Vector> matrix(rows.size());
  unsigned counter = 0;
  for (const int shares : {1, 4, 7, 115, 200}) {
    Params all{.shares = shares, .chunks = 1};
    const int count = static_cast<int>(rows.size());
    all.arrivals[2] = {.from = rows.data(),
                       .to = matrix.data(),
                       .receiver = &counter,
                       .units = count,
                       .most = (count + shares - 1) / shares};
    std::vector<int> sent(rows.size());
    for (int share = 0; share < shares; ++share) {
      device::Push push;
      device::put_push<true>(all, shares + share, 64, push);  // behind the shares of group 1
      EXPECT_EQ(push.counter, &counter);
      EXPECT_EQ(push.from - rows.data(), push.to - matrix.data());
      EXPECT_LE(push.vectors, push.most);
      EXPECT_EQ(push.most, (count + shares - 1) / shares);
      for (int i = 0; i < push.vectors; ++i) {
        ++sent[static_cast<std::size_t>(push.from - rows.data() + i)];
      }
    }
    EXPECT_EQ(sent, std::vector<int>(rows.size(), 1)) << shares << " shares";
  }
}

/// The vectors of a push, by its lines.
std::vector<const device::Vector*> vectors_of(const device::Push& push) {
  std::vector<const device::Vector*> list;
  for (int i = 0; i < push.vectors; ++i) {
    list.push_back(push.from + static_cast<std::ptrdiff_t>(i / push.line) * push.pitch +
                   i % push.line);
  }
  return list;
}

TEST(Pushes, shares_of_chunks_cover_the_columns_of_a_group_once) {
  constexpr int kRows = 13;
  constexpr int kRowVectors = 22;
  constexpr int kChunkVectors = 8;  // and a chunk of 6
  constexpr int kChunks = 3;
  constexpr int kStep = 20;  // two lines of a chunk, or three of the last one
  std::vector<device::Vector> rows(kRows * kRowVectors);
  std::vector<device::Vector> matrix(rows.size());
  std::vector<unsigned> counters(16);
  for (const int shares : {1, 4, 13, 20}) {
    for (const bool chunk_by_chunk : {false, true}) {
      Params all{.arrivals_count = 4,
                 .chunk_counters = 4,
                 .shares = shares,
                 .row_vectors = kRowVectors,
                 .chunk_vectors = kChunkVectors,
                 .chunks = kChunks,
                 .chunk_by_chunk = chunk_by_chunk ? 1 : 0};
      for (int group = 1; group < 4; ++group) {
        all.arrivals[group] = {.from = rows.data(),
                               .to = matrix.data(),
                               .receiver = counters.data() + group,
                               .units = kRows,
                               .most = (kRows + shares - 1) / shares};
      }
      int number = 0;
      for (const SentChunk& sent : sent_chunks(3, kChunks, chunk_by_chunk)) {
        std::vector<int> times(rows.size());
        for (int share = 0; share < shares; ++share) {
          device::Push push;
          device::put_push<true>(all, number++, kStep, push);
          ASSERT_EQ(push.counter - counters.data(),
                    static_cast<std::ptrdiff_t>(sent.group) + 4 * sent.chunk);
          ASSERT_EQ(push.from - rows.data(), push.to - matrix.data());
          // The CTAs of a cluster have as many steps for a share each.
          const int width = std::min(kChunkVectors, kRowVectors - sent.chunk * kChunkVectors);
          ASSERT_EQ(push.most, (kRows + shares - 1) / shares * width);
          ASSERT_LE(push.vectors, push.most);
          ASSERT_EQ(push.lines, kStep / width);
          for (const device::Vector* each : vectors_of(push)) {
            ++times.at(static_cast<std::size_t>(each - rows.data()));
          }
        }
        for (std::size_t i = 0; i < times.size(); ++i) {
          const int column = static_cast<int>(i) % kRowVectors;
          ASSERT_EQ(times[i], column / kChunkVectors == sent.chunk ? 1 : 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace overlaptune
