// The items of a launch that takes its work from a queue, counted by hand.

#include "run/gemm/generated_queue.hpp"

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

TEST(GeneratedQueueTest, SumsAreFetchedInAShareForEachCluster) {
  const GeneratedOperands stores{
      .k = 1024, .stores = GeneratedStores{.fetches = true, .before_waits = 8, .groups = {{}, {}}}};
  const QueuedItems single = queued_items(kSingle, stores, 20, kSms);
  EXPECT_EQ(single.fetches, kSms);
  EXPECT_EQ(single.computing, 20);
  EXPECT_EQ(single.all, 20 + 2 * kSms);
  EXPECT_EQ(single.homes, 8);  // fetches come behind tiles that wait
  const QueuedItems pairs = queued_items(kPairs, stores, 20, kSms);
  EXPECT_EQ(pairs.fetches, kSms / 2);
  EXPECT_EQ(pairs.all, 10 + 2 * (kSms / 2));
  // Two CTAs share each of 20 tiles: 46 pairs of SMs are left for two groups.
  QueuedKernel shared = kSingle;
  shared.ctas_an_item = 2;
  EXPECT_EQ(queued_items(shared, stores, 20, kSms).fetches, 23);
  EXPECT_EQ(queued_items(shared, stores, 66, kSms).fetches, 1);
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

TEST(GeneratedQueueTest, ClustersGoOnByStepsUnlessManyItemsWaitForDifferentTimes) {
  const QueuedItems few{.computing = 16 * 66 - 1};
  const QueuedItems many{.computing = 16 * 66};
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
