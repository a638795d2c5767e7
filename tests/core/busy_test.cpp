#include "core/busy.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/core/activities.hpp"

namespace overlaptune {
namespace {

using activities::activity;
using activities::random_activities;

/// The busy times, by a look at every microsecond.
BusyTimes sampled(const std::vector<Activity>& activities, int rank, int latest) {
  BusyTimes times;
  double first = 1e9;
  double last = -1e9;
  for (const Activity& seen : activities) {
    if (seen.rank != rank) continue;
    first = std::min(first, seen.start.count());
    last = std::max(last, seen.end.count());
  }
  times.total = us(last - first);
  for (int i = 0; i < latest; ++i) {
    bool gemm = false;
    bool collective = false;
    for (const Activity& seen : activities) {
      if (seen.rank != rank || seen.start.count() > i + 0.5 || seen.end.count() < i + 0.5) continue;
      gemm = gemm || seen.kind == ActivityKind::gemm;
      collective = collective || seen.kind == ActivityKind::collective;
    }
    times.gemm += us(gemm ? 1 : 0);
    times.collective += us(collective ? 1 : 0);
    times.both += us(gemm && collective ? 1 : 0);
    times.exposed += us(collective && !gemm ? 1 : 0);
  }
  return times;
}

TEST(Busy, agrees_with_looking_at_every_microsecond) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    constexpr int kRanks = 3;
    const auto activities = random_activities(random, kRanks, 100);
    const Busy result = busy(activities);
    std::size_t found = 0;
    BusyTimes sum;
    for (int rank = 0; rank < kRanks; ++rank) {
      const bool active = std::any_of(activities.begin(), activities.end(),
                                      [&](const Activity& seen) { return seen.rank == rank; });
      if (!active) continue;
      ASSERT_LT(found, result.ranks.size());
      const RankBusy& of_rank = result.ranks[found++];
      const BusyTimes expected = sampled(activities, rank, 130);
      EXPECT_EQ(of_rank.rank, rank);
      EXPECT_EQ(of_rank.times, expected);
      sum.gemm += expected.gemm;
      sum.exposed += expected.exposed;
    }
    ASSERT_EQ(found, result.ranks.size());
    if (found == 0) continue;
    EXPECT_NEAR(result.mean.gemm.count(), sum.gemm.count() / static_cast<double>(found), 1e-9);
    EXPECT_NEAR(result.mean.exposed.count(), sum.exposed.count() / static_cast<double>(found),
                1e-9);
  }
}

TEST(Busy, overlap_fraction_by_hand) {
  using enum ActivityKind;
  const Busy result = busy({activity(0, gemm, 0, 10), activity(0, collective, 6, 14, 1),
                            activity(0, collective, 7, 9, 2), activity(0, other, 14, 20)});
  const BusyTimes expected{
      .gemm = us(10), .collective = us(8), .both = us(4), .exposed = us(4), .total = us(20)};
  EXPECT_EQ(result.mean, expected);
  EXPECT_EQ(overlap_fraction(result.mean), 0.5);
  EXPECT_EQ(overlap_fraction(busy({activity(0, gemm, 0, 10)}).mean), std::nullopt);
}

TEST(Busy, unsound_activities_count_for_nothing) {
  using enum ActivityKind;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double endless = std::numeric_limits<double>::infinity();
  const std::vector<Activity> unsound{activity(0, gemm, 5, 4), activity(1, gemm, nan, 4),
                                      activity(2, collective, 5, endless)};
  EXPECT_TRUE(busy(unsound).ranks.empty());
  EXPECT_TRUE(busy({}).ranks.empty());
  EXPECT_EQ(busy({}).mean, BusyTimes{});
}

TEST(Busy, overlap_fraction_is_1_where_the_shorter_is_all_hidden) {
  using enum ActivityKind;
  // Thirds, whose sums are rounded: the time in both may never exceed the time in either.
  std::vector<Activity> list{activity(0, gemm, 0, 100)};
  for (int i = 0; i < 20; ++i) list.push_back(activity(0, collective, i / 3.0, (i + 1) / 3.0, 1));
  EXPECT_DOUBLE_EQ(*overlap_fraction(busy(list).mean), 1);
  EXPECT_EQ(overlap_fraction({.gemm = us(1), .collective = us(2), .both = us(1 + 1e-12)}), 1);
  EXPECT_EQ(
      overlap_fraction(busy({activity(0, gemm, 0, 10), activity(0, collective, 10, 20)}).mean), 0);
}

}  // namespace
}  // namespace overlaptune
