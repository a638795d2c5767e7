// The largest and the least values that a database takes, and those just beyond them.

#include "db/rules.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;

Measurement measured(const Probe& probe, Summary time = {us(1), us(1), us(1), 9}) {
  return {.probe = probe, .time = time};
}

bool takes(const Probe& probe) {
  return !db::complaint(measured(probe));
}

GemmProbe gemm(std::int64_t m = 1, std::int64_t n = 1, std::int64_t k = 1) {
  return {.m = m, .n = n, .k = k};
}

TEST(Rules, gemms_have_sizes) {
  EXPECT_TRUE(takes(gemm()));
  EXPECT_TRUE(takes(gemm(kLargestSize, kLargestSize, kLargestSize)));
  EXPECT_FALSE(takes(gemm(0)));
  EXPECT_FALSE(takes(gemm(1, 0)));
  EXPECT_FALSE(takes(gemm(1, 1, 0)));
  EXPECT_FALSE(takes(gemm(kLargestSize + 1)));
  EXPECT_FALSE(takes(gemm(1, kLargestSize + 1)));
  EXPECT_FALSE(takes(gemm(1, 1, kLargestSize + 1)));
  GemmProbe probe = gemm();
  probe.swizzle = -1;
  EXPECT_FALSE(takes(probe));
  probe = gemm();
  probe.sms = -1;
  EXPECT_FALSE(takes(probe));
  probe = gemm();
  probe.tile = {128, 256, 64, 4, 1};
  EXPECT_TRUE(takes(probe));
  probe.tile.stages = 0;  // neither a tile nor the library's choice
  EXPECT_FALSE(takes(probe));
  probe.tile = {-128, 256, 64, 4, 1};
  EXPECT_FALSE(takes(probe));
}

TEST(Rules, collectives_have_ranks) {
  const auto collective = [](std::int64_t bytes, int ranks, int ctas) {
    return takes(CollectiveProbe{Collective::all_reduce, {bytes}, ranks, ctas});
  };
  EXPECT_TRUE(collective(0, 2, 0));
  EXPECT_TRUE(collective(kMostBytes, kMostRanks, 1000));
  EXPECT_FALSE(collective(-1, 2, 0));
  EXPECT_FALSE(collective(kMostBytes + 1, 2, 0));
  EXPECT_FALSE(collective(0, 1, 0));
  EXPECT_FALSE(collective(0, kMostRanks + 1, 0));
  EXPECT_FALSE(collective(0, 2, -1));
}

TEST(Rules, the_librarys_gemm_leaves_sms_to_a_collective) {
  const CollectiveProbe none{Collective::all_reduce, {8}, 2, 0};
  const CollectiveProbe one{Collective::all_reduce, {8}, 2, 1};
  EXPECT_FALSE(takes(ConcurrentProbe{gemm(), none}));
  EXPECT_TRUE(takes(ConcurrentProbe{gemm(), one}));
  GemmProbe tiled = gemm();
  tiled.tile = {128, 256, 64, 4, 1};
  EXPECT_TRUE(takes(ConcurrentProbe{tiled, none}));
  EXPECT_TRUE(takes(SustainedProbe{gemm(), none}));
  EXPECT_FALSE(takes(SustainedProbe{gemm(0), none}));
}

TEST(Rules, copies_and_pairs) {
  EXPECT_TRUE(takes(CopyProbe{{0}, 0}));
  EXPECT_TRUE(takes(CopyProbe{{kMostBytes}, 0}));
  EXPECT_FALSE(takes(CopyProbe{{-1}, 0}));
  EXPECT_FALSE(takes(CopyProbe{{kMostBytes + 1}, 0}));
  EXPECT_FALSE(takes(CopyProbe{{0}, -1}));
  EXPECT_TRUE(takes(PeerProbe{{0}, 0, kMostPeers - 1}));
  EXPECT_TRUE(takes(PeerProbe{{0}, kMostPeers - 1, 0}));
  EXPECT_FALSE(takes(PeerProbe{{0}, 1, 1}));
  EXPECT_FALSE(takes(PeerProbe{{0}, 0, kMostPeers}));
  EXPECT_FALSE(takes(PeerProbe{{0}, kMostPeers, 0}));
  EXPECT_FALSE(takes(PeerProbe{{0}, -1, 0}));
  EXPECT_FALSE(takes(PeerProbe{{-1}, 0, 1}));
}

TEST(Rules, operations_of_a_layer) {
  EXPECT_TRUE(takes(LayerProbe{LayerWork::norm, 1, 1}));
  EXPECT_TRUE(takes(LayerProbe{LayerWork::attention, kMostLayerAmount, 1}));
  EXPECT_TRUE(takes(LayerProbe{LayerWork::all_gather, 1, kMostRanks}));
  EXPECT_FALSE(takes(LayerProbe{LayerWork::norm, 0, 1}));
  EXPECT_FALSE(takes(LayerProbe{LayerWork::norm, -1, 1}));
  EXPECT_FALSE(takes(LayerProbe{LayerWork::attention, kMostLayerAmount + 1, 1}));
  EXPECT_TRUE(takes(LayerProbe{LayerWork::quantise, 1, 1}));
  EXPECT_FALSE(takes(LayerProbe{LayerWork::quantise, 1, 2}));
  EXPECT_FALSE(takes(LayerProbe{LayerWork::rope, 1, 2}));
  EXPECT_FALSE(takes(LayerProbe{LayerWork::rope, 1, 0}));
  EXPECT_FALSE(takes(LayerProbe{LayerWork::all_gather, 1, 1}));
  EXPECT_FALSE(takes(LayerProbe{LayerWork::all_reduce, 1, kMostRanks + 1}));
  // Plans divide by times.
  EXPECT_TRUE(db::complaint(measured(LayerProbe{LayerWork::norm, 1}, {us(1), us(0), us(2), 3})));
}

TEST(Rules, a_median_lies_between_its_percentiles) {
  const auto times = [](double median, double p10, double p90, int count = 9) {
    return !db::complaint(measured(gemm(), {us(median), us(p10), us(p90), count}));
  };
  EXPECT_TRUE(times(2, 1, 3));
  EXPECT_TRUE(times(2, 2, 2));
  EXPECT_TRUE(times(0, 0, 0, 0));
  EXPECT_FALSE(times(0.9, 1, 3));
  EXPECT_FALSE(times(3.1, 1, 3));
  EXPECT_FALSE(times(2, -1, 3));
  EXPECT_FALSE(times(NAN, 1, 3));
  EXPECT_FALSE(times(2, 1, INFINITY));
  EXPECT_FALSE(times(2, 1, 3, -1));
}

TEST(Rules, a_uid_has_32_digits) {
  const std::string uid = "0123456789abcdef0123456789abcdef";
  EXPECT_FALSE(db::uid_complaint(uid));
  EXPECT_TRUE(db::uid_complaint(uid + "0"));
  EXPECT_TRUE(db::uid_complaint(uid.substr(1)));
  EXPECT_TRUE(db::uid_complaint("g" + uid.substr(1)));
  EXPECT_TRUE(db::uid_complaint("A" + uid.substr(1)));
}

TEST(Rules, a_time_is_utc_to_the_millisecond) {
  for (const char* time : {"2026-01-31T12:00:00.000Z", "2026-12-01T23:59:59.999Z",
                           "2026-09-09T19:00:00.000Z", "0000-01-01T00:00:00.000Z"}) {
    EXPECT_FALSE(db::time_complaint("at", time)) << time;
  }
  for (const char* time :
       {"2026-00-31T12:00:00.000Z", "2026-13-31T12:00:00.000Z", "2026-01-00T12:00:00.000Z",
        "2026-01-32T12:00:00.000Z", "2026-01-31T24:00:00.000Z", "2026-01-31T12:60:00.000Z",
        "2026-01-31T12:00:60.000Z", "2026-01-31T12:00:00.000", "2026-01-31 12:00:00.000Z",
        "2026-01-31T12:00:00.0000Z", "2026-01-31T12:00:00:000Z", "2026/01/31T12:00:00.000Z", ""}) {
    EXPECT_TRUE(db::time_complaint("at", time)) << time;
  }
  EXPECT_FALSE(db::time_complaint("at", db::utc_now()));
}

TEST(Rules, a_time_far_ahead_is_of_a_wrong_clock) {
  EXPECT_FALSE(db::ahead_complaint("at", db::utc_now()));
  EXPECT_FALSE(db::ahead_complaint("at", "2026-01-31T12:00:00.000Z"));
  EXPECT_TRUE(db::ahead_complaint("at", "9999-12-31T23:59:59.999Z"));
}

}  // namespace
}  // namespace overlaptune
