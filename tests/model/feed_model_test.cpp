#include "model/feed_model.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// Operands come just fast enough for the tensor cores in a tile of 128x256.
constexpr GemmConstants kConstants{
    .per_mac = 1e-6, .multicast = 1, .per_shared_byte = 1e-6 * 128 * 256 / (384 * 2) / 128};

GemmWork work_with(int block_m, int block_n) {
  const Tile tile{block_m, block_n, 64, 4, 1};
  const TileOrder order{8192, 8192, 1, block_m, block_n, 1};
  return {.tile = tile, .order = order, .k = 4096, .sms = 128};
}

TEST(Feed, who_asks_for_more_is_slowed_more_and_slows_more) {
  const GemmWork probed = work_with(128, 256);
  const Feed feed{.times = 1.5,
                  .probed = fed_slower(probed, kConstants, 1.5),
                  .share = 1,
                  .tile = probed.tile,
                  .collective_share = 0.5};
  EXPECT_NEAR(feed.probed, 1.5, 1e-9);  // it waits only for operands
  EXPECT_DOUBLE_EQ(feed.gemm_factor(probed, kConstants), 1);
  // With 128x512 the tensor cores are idle for a fifth of their time, so the factor is 1.5 times
  // 640 / 768.
  EXPECT_NEAR(feed.probed * feed.gemm_factor(work_with(128, 512), kConstants), 1.25, 1e-9);

  EXPECT_DOUBLE_EQ(feed.collective_factor(probed.tile), 1);
  // The ratio of operand elements: (1/128 + 1/128) / (1/128 + 1/256).
  EXPECT_NEAR(feed.collective_factor({128, 128, 64, 4, 1}), std::sqrt(4.0 / 3), 1e-9);
  EXPECT_LT(feed.collective_factor({256, 256, 64, 4, 1}), 1);
  // The ratio counts up to 2.
  EXPECT_NEAR(feed.collective_factor({64, 16, 64, 4, 1}), std::sqrt(2.0), 1e-9);
}

/// Two tiles beside one collective: one of them was probed three times in all.
TEST(FeedModel, the_tile_with_the_most_probes_is_the_usual_one) {
  const Tile often{128, 256, 64, 4, 1};
  const Tile seldom{64, 64, 64, 4, 1};
  const auto beside = [](const Tile& tile, std::int64_t k, int ctas) {
    return ConcurrentProbe{.gemm = {.m = 4096, .n = 4096, .k = k, .tile = tile, .swizzle = 8},
                           .collective = {.collective = Collective::all_reduce,
                                          .bytes = {1 << 20},
                                          .ranks = 8,
                                          .comm_ctas = ctas}};
  };
  std::vector<Measurement> measurements;
  for (const ConcurrentProbe& probe :
       {beside(seldom, 4096, 16), beside(often, 4096, 16), beside(often, 2048, 16),
        beside(often, 1024, 16), beside(seldom, 512, 0)}) {
    measurements.push_back(
        {.probe = probe, .time = {.median = us(20)}, .collective_time = Summary{.median = us(10)}});
  }
  for (int turn = 0; turn < 2; ++turn) {
    const FeedModel model =
        FeedModel::fit(measurements, GemmModel{}, 132, [](const Measurement&) { return 1.5; });
    EXPECT_TRUE(model.is_usual(beside(often, 4096, 16)));
    EXPECT_FALSE(model.is_usual(beside(seldom, 4096, 16)));
    EXPECT_FALSE(model.is_usual(beside(seldom, 2048, 16)));
    // Nothing is known of this depth; without CTAs the collective takes the GEMM's SMs.
    EXPECT_TRUE(model.is_usual(beside(seldom, 8192, 16)));
    EXPECT_TRUE(model.is_usual(beside(seldom, 512, 0)));
    std::reverse(measurements.begin(), measurements.end());  // the order does not matter
  }
}

TEST(Feed, of_one_tile_nothing_is_known_of_others) {
  const Feed feed;
  EXPECT_EQ(feed.gemm_factor(work_with(64, 64), kConstants), 1);
  EXPECT_EQ(feed.collective_factor({64, 64, 64, 4, 1}), 1);
  const FeedModel model;
  EXPECT_TRUE(model.is_usual({.gemm = {.tile = {64, 64, 64, 4, 1}}}));
}

}  // namespace
}  // namespace overlaptune
