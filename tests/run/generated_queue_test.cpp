// The items of a launch that takes its work from a queue, counted by hand.

#include "run/gemm/generated_queue.hpp"

#include <array>
#include <cstring>

#include <gtest/gtest.h>

namespace overlaptune::run {
namespace {

constexpr QueuedKernel kSingle{.tile = {128, 128, 64, 4, 1}};
constexpr QueuedKernel kPairs{.tile = {128, 128, 64, 4, 2}, .ctas_an_item = 2, .tiles_an_item = 2};
constexpr int kSms = 132;

TEST(GeneratedQueueTest, AnItemHasATileForEachCtaThatTakesIt) {
  const GeneratedOperands plain{.k = 1024};
  EXPECT_EQ(queued_items(kSingle, plain, 11, kSms).all, 11);
  EXPECT_EQ(queued_items(kPairs, plain, 11, kSms).all, 6);
  EXPECT_EQ(queued_items(kSingle, plain, 11, kSms).homes, 0);
}

TEST(GeneratedQueueTest, HomesAreTheItemsThatWaitForNothing) {
  const GeneratedOperands stores{.k = 1024, .stores = GeneratedStores{.before_waits = 8}};
  EXPECT_EQ(queued_items(kSingle, stores, 20, kSms).homes, 8);
  EXPECT_EQ(queued_items(kPairs, stores, 20, kSms).homes, 4);

  // The first six tiles have the rank's own rows; the others wait for a counter.
  const std::uint32_t counter = 0;
  GeneratedRows rows{.arrivals = {{.end = 6}, {.end = 20, .counter = &counter}}};
  const GeneratedOperands own_first{.k = 1024, .rows = rows};
  EXPECT_EQ(queued_items(kSingle, own_first, 20, kSms).homes, 6);
  EXPECT_EQ(queued_items(kPairs, own_first, 20, kSms).homes, 3);
  rows.arrivals.front().counter = &counter;
  EXPECT_EQ(queued_items(kSingle, {.k = 1024, .rows = rows}, 20, kSms).homes, 0);
}

TEST(GeneratedQueueTest, RowsArePushedInSharesOf32KibOrOneForEachCta) {
  // The larger group has 128 rows of 2 KiB: 256 KiB, which are 8 shares of 32 KiB.
  const std::uint32_t counter = 0;
  const auto operands = [&](int ctas) {
    return GeneratedOperands{
        .k = 1024,
        .rows = GeneratedRows{
            .arrivals = {{.end = 4},
                         {.end = 8, .counter = &counter, .sent = {.block = 1, .rows = 128}},
                         {.end = 12, .counter = &counter, .sent = {.block = 2, .rows = 64}}},
            .pushes = GeneratedRows::Pushes{.ctas = ctas}}};
  };
  const QueuedItems many = queued_items(kSingle, operands(16), 12, kSms);
  EXPECT_EQ(many.shares, 8);
  EXPECT_EQ(many.order.pushes, 2 * 8);
  EXPECT_EQ(many.all, 12 + 2 * 8);
  EXPECT_EQ(many.homes, 16 + 4);  // the 16 CTAs that push, then the tiles that wait for nothing
  EXPECT_EQ(queued_items(kSingle, operands(3), 12, kSms).shares, 3);
  // An item of two CTAs has a share for each.
  const QueuedItems pairs = queued_items(kPairs, operands(3), 12, kSms);
  EXPECT_EQ(pairs.shares, 4);
  EXPECT_EQ(pairs.order.pushes, 2 * 2);
  EXPECT_EQ(pairs.all, 6 + 4);
}

/// Rank 0 of three sends two groups of 96 rows of 1296 columns, in chunks of 512, 512 and 272.
class ChunkedPushesTest : public testing::Test {
 protected:
  ChunkedPushesTest() {
    operands_.barrier.ranks = 3;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      operands_.barrier.flags[rank] = &flags_[rank];
      operands_.rows->pushes->gathered.push_back(&matrices_[rank]);
    }
  }

  [[nodiscard]] kernels::device::RowsParams<kUsualRegions> parameters(std::int64_t tiles) const {
    const QueuedItems items = queued_items(kSingle, operands_, tiles, kSms);
    const TileOrder order{.block_rows = 96, .n = 256, .blocks = 3, .block_m = 96, .block_n = 128};
    const auto bytes = rows_parameter(order, operands_, kSingle, items, {.waits = kUsualRegions});
    kernels::device::RowsParams<kUsualRegions> params;
    EXPECT_EQ(bytes.size(), sizeof params);
    std::memcpy(&params, bytes.data(), sizeof params);
    return params;
  }

  static constexpr std::uint32_t kCounter = 0;
  std::array<kernels::device::RankFlags, 3> flags_{};
  std::array<char, 3> matrices_{};
  GeneratedOperands operands_{
      .k = 1296,
      .rows = GeneratedRows{
          .own = &matrices_,
          .arrivals = {{.end = 4},
                       {.end = 8, .counter = &kCounter, .sent = {.block = 1, .rows = 96}},
                       {.end = 12, .counter = &kCounter, .sent = {.block = 2, .rows = 96}}},
          .chunk_columns = 512,
          .pushes = GeneratedRows::Pushes{.ctas = 16}}};
};

TEST_F(ChunkedPushesTest, SharesAreOfRows) {
  // 96 rows of 1 KiB are three shares of 32 KiB.
  const QueuedItems items = queued_items(kSingle, operands_, 12, kSms);
  EXPECT_EQ(items.chunks, 3);
  EXPECT_EQ(items.shares, 3);
  EXPECT_EQ(items.order.pushes, 2 * 3 * 3);
  // No share is empty: 5 rows of 16 KiB are no four shares of 2 rows.
  operands_.k = 3 * 8192;
  operands_.rows->chunk_columns = 8192;
  for (std::size_t group = 1; group < 3; ++group) operands_.rows->arrivals[group].sent.rows = 5;
  operands_.rows->pushes->ctas = 4;
  EXPECT_EQ(queued_items(kSingle, operands_, 12, kSms).shares, 2);  // 80 KiB
  operands_.rows->chunk_columns = 16384;
  EXPECT_EQ(queued_items(kSingle, operands_, 12, kSms).shares, 3);  // 160 KiB
}

TEST_F(ChunkedPushesTest, TheKernelIsToldWhatALineIs) {
  const auto params = parameters(12);
  EXPECT_EQ(params.chunk_steps, 512 / 64);
  EXPECT_EQ(params.row_vectors, 1296 * 2 / 16);
  EXPECT_EQ(params.chunk_vectors, 512 * 2 / 16);
  EXPECT_EQ(params.chunks, 3);
  EXPECT_EQ(params.shares, 3);
  EXPECT_EQ(params.chunk_counters, 3);  // behind those of the three groups
  EXPECT_EQ(params.chunk_value, 0);
  for (const int group : {1, 2}) {
    const auto& arrival = params.arrivals[group];
    EXPECT_EQ(arrival.units, 96);
    EXPECT_EQ(arrival.most, 32);
    EXPECT_EQ(arrival.value, 3);
    EXPECT_EQ(arrival.receiver, flags_[static_cast<std::size_t>(group)].counters + group);
  }
}

TEST_F(ChunkedPushesTest, ChunksGoByTurnsWhereAllTilesBeginAtOnce) {
  EXPECT_EQ(parameters(132 - 16).chunk_by_chunk, 1);
  EXPECT_EQ(parameters(132 - 16 + 1).chunk_by_chunk, 0);
}

TEST(GeneratedQueueTest, ClustersGoOnByStepsUnlessManyItemsWaitForDifferentTimes) {
  const QueuedItems few{.all = 16 * 66 - 1};
  const QueuedItems many{.all = 16 * 66};
  const auto stores = [](bool adds, bool own_later) {
    return GeneratedOperands{.stores = GeneratedStores{.own_later = own_later, .adds = adds}};
  };
  EXPECT_FALSE(goes_on_by_steps(stores(true, true), many, 66));
  EXPECT_TRUE(goes_on_by_steps(stores(true, true), few, 66));
  EXPECT_TRUE(goes_on_by_steps(stores(false, true), many, 66));
  EXPECT_TRUE(goes_on_by_steps(stores(true, false), many, 66));
  EXPECT_TRUE(goes_on_by_steps(GeneratedOperands{}, many, 66));
}

}  // namespace
}  // namespace overlaptune::run
