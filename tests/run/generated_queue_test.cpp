// The items of a launch that takes its work from a queue, counted by hand.

#include "run/gemm/generated_queue.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune::run {
namespace {

constexpr QueuedKernel kSingle{.tile = {128, 128, 64, 4, 1}};
constexpr QueuedKernel kPairs{.tile = {128, 128, 64, 4, 2}, .ctas_an_item = 2, .tiles_an_item = 2};
constexpr QueuedKernel kPushing{.tile = {128, 128, 64, 4, 1}, .tiles_push = true};
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

TEST(GeneratedQueueTest, InChunksAnItemHasItsShareOfAllGroups) {
  // Both groups together count as 256 rows of 2 KiB: 512 KiB, which are 16 shares of 32 KiB.
  const std::uint32_t counter = 0;
  const auto operands = [&](int ctas, std::int64_t rows) {
    return GeneratedOperands{
        .k = 1024,
        .rows = GeneratedRows{
            .arrivals = {{.end = 4},
                         {.end = 8, .counter = &counter, .sent = {.block = 1, .rows = rows}},
                         {.end = 12, .counter = &counter, .sent = {.block = 2, .rows = rows / 2}}},
            .chunk_columns = 512,
            .pushes = GeneratedRows::Pushes{.ctas = ctas}}};
  };
  const QueuedItems all = queued_items(kSingle, operands(20, 128), 12, kSms);
  EXPECT_EQ(all.shares, 16);
  EXPECT_EQ(all.order.pushes, 16);
  EXPECT_EQ(all.order.first, 16);  // before the first tile that waits
  EXPECT_EQ(all.all, 12 + 16);
  EXPECT_EQ(all.homes, 16 + 4);
  const QueuedItems pairs = queued_items(kPairs, operands(5, 128), 12, kSms);
  EXPECT_EQ(pairs.shares, 6);
  EXPECT_EQ(pairs.order.pushes, 3);
  // A share is a row at least.
  GeneratedOperands long_rows = operands(20, 6);
  long_rows.k = 1 << 20;
  EXPECT_EQ(queued_items(kSingle, long_rows, 12, kSms).shares, 6);
}

/// The rows of two peers, of 2 KiB each, in chunks of 192 columns: the last one has 64.
TEST(GeneratedQueueTest, InChunksSharesAreWholeRows) {
  const std::uint32_t counter = 0;
  const std::vector<std::byte> memory(3 * 128 * 2048);
  kernels::device::RankFlags flags[3]{};
  GeneratedOperands operands{
      .k = 1024,
      .rows = GeneratedRows{
          .own = memory.data(),
          .arrivals = {{.end = 4},
                       {.end = 8, .counter = &counter, .sent = {.block = 1, .rows = 100}},
                       {.end = 12, .counter = &counter, .sent = {.block = 2, .rows = 50}}},
          .chunk_columns = 192,
          .pushes = GeneratedRows::Pushes{.ctas = 7}}};
  operands.barrier.ranks = 3;
  for (int rank = 0; rank < 3; ++rank) {
    operands.barrier.flags[static_cast<std::size_t>(rank)] = flags + rank;
    operands.rows->pushes->gathered.push_back(const_cast<std::byte*>(memory.data()));
  }
  const TileOrder order{.block_rows = 128, .n = 128, .blocks = 3, .block_m = 128, .block_n = 128};
  const QueuedItems items = queued_items(kSingle, operands, 12, kSms);
  ASSERT_EQ(items.shares, 7);
  const std::vector<std::byte> bytes = rows_parameter(order, operands, kSingle, items, 16, {});
  kernels::device::RowsParams<16> rows;
  ASSERT_EQ(bytes.size(), sizeof rows);
  std::memcpy(&rows, bytes.data(), sizeof rows);
  EXPECT_EQ(rows.chunks, 6);
  EXPECT_EQ(rows.chunk_steps, 3);
  EXPECT_EQ(rows.row_vectors, 128);
  EXPECT_EQ(rows.arrivals_count, 3);
  EXPECT_EQ(rows.arrivals[1].vectors, 100 * 128);
  EXPECT_EQ(rows.arrivals[1].most, 15 * 128);
  EXPECT_EQ(rows.arrivals[2].most, 8 * 128);
  EXPECT_EQ(rows.arrivals[1].value, 7U);
}

/// Rank 1 of three, whose rows are three panels of five tiles.
TEST(GeneratedQueueTest, WhereTilesPushEachCountsAtEachPeer) {
  const std::uint32_t counter = 0;
  kernels::device::RankFlags flags[3]{};
  GeneratedOperands operands{
      .k = 1024,
      .rows = GeneratedRows{.own_block = 1,
                            .arrivals = {{.end = 15},
                                         {.end = 30, .counter = &counter},
                                         {.end = 45, .counter = &counter}},
                            .chunk_columns = 256,
                            .pushes = GeneratedRows::Pushes{.ctas = kTilesPush}}};
  operands.barrier.rank = 1;
  operands.barrier.ranks = 3;
  for (std::size_t rank = 0; rank < 3; ++rank) operands.barrier.flags[rank] = flags + rank;
  const TileOrder order{.block_rows = 300, .n = 640, .blocks = 3, .block_m = 128, .block_n = 128};
  const QueuedItems items = queued_items(kPushing, operands, 45, kSms);
  EXPECT_EQ(items.all, 45);  // no items but tiles
  EXPECT_EQ(items.homes, 15);
  MapsOfRows maps;
  maps.gathered.resize(2);
  maps.gathered[1].opaque[5] = 77;
  const std::vector<std::byte> bytes = rows_parameter(order, operands, kPushing, items, 16, maps);
  kernels::device::PushedByTilesParams<16> rows;
  ASSERT_EQ(bytes.size(), sizeof rows);
  std::memcpy(&rows, bytes.data(), sizeof rows);
  EXPECT_EQ(rows.pushes, 0);
  EXPECT_EQ(rows.pushers, 5);
  EXPECT_EQ(rows.peers, 2);
  EXPECT_EQ(rows.chunk_steps, 4);
  EXPECT_EQ(rows.gathered[1].opaque[5], maps.gathered[1].opaque[5]);
  // Rank 2 has these rows as its first ones of a peer, rank 0 as its second ones.
  EXPECT_EQ(rows.arrivals[1].receiver, flags[2].counters + 1);
  EXPECT_EQ(rows.arrivals[2].receiver, flags[0].counters + 2);
  EXPECT_EQ(rows.arrivals[1].value, 15U);
  EXPECT_EQ(rows.arrivals[2].value, 15U);
  operands.rows->pushes->leaves_out_a_group = true;
  const std::vector<std::byte> wrong = rows_parameter(order, operands, kPushing, items, 16, maps);
  std::memcpy(&rows, wrong.data(), sizeof rows);
  EXPECT_EQ(rows.arrivals[1].value, 15U);
  EXPECT_EQ(rows.arrivals[2].value, 16U);
}

/// A rank that takes no part in the exchange.
TEST(GeneratedQueueTest, AKernelWhoseTilesPushGetsItsParametersWhereNoneDo) {
  const GeneratedOperands operands{.k = 1024, .rows = GeneratedRows{.arrivals = {{.end = 45}}}};
  const TileOrder order{.block_rows = 300, .n = 640, .blocks = 3, .block_m = 128, .block_n = 128};
  const QueuedItems items = queued_items(kPushing, operands, 45, kSms);
  const std::vector<std::byte> bytes = rows_parameter(order, operands, kPushing, items, 16, {});
  kernels::device::PushedByTilesParams<16> rows;
  ASSERT_EQ(bytes.size(), sizeof rows);
  std::memcpy(&rows, bytes.data(), sizeof rows);
  EXPECT_EQ(rows.pushers, 0);
  EXPECT_EQ(rows.peers, 0);
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
