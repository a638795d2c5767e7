// Stored times of a layer's operations: of their amount, between two amounts, and beyond them.

#include "planning/schedules/layer_times.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

constexpr Doubt kBeyond{.low = 0.5, .high = 2, .more_us = 1};

Measurement of(LayerWork work, std::int64_t amount, double median, int ranks = 1) {
  return {.probe = LayerProbe{work, amount, ranks},
          .time = {us(median), us(0.9 * median), us(1.2 * median), 5}};
}

/// Time grows by 4 from 1000 to 100,000 bytes, so by 2 to their geometric mean, 10,000.
const std::vector<Measurement> kMeasured{
    of(LayerWork::norm, 100'000, 8),
    of(LayerWork::norm, 1000, 2),
    of(LayerWork::rope, 1000, 50),
    of(LayerWork::all_gather, 1000, 30, 2),
    // Not of a layer.
    {.probe = CopyProbe{{10'000}, 0}, .time = {us(70), us(70), us(70), 1}}};

Cost time_of(LayerWork work, std::int64_t amount, int ranks = 1) {
  return LayerTimes(kMeasured).time({work, amount, ranks}, kBeyond, 0.01).value();
}

TEST(LayerTimes, an_amount_that_was_measured_has_its_time) {
  const Cost cost = time_of(LayerWork::norm, 100'000);
  EXPECT_DOUBLE_EQ(cost.us, 8);
  EXPECT_EQ(cost.source, kLayerMeasured);
  EXPECT_NEAR(least_us(cost.us, cost.doubt), 7.2, 1e-12);
  EXPECT_NEAR(most_us(cost.us, cost.doubt), 9.6, 1e-12);
}

TEST(LayerTimes, between_two_amounts_is_a_line_of_logarithms) {
  const Cost cost = time_of(LayerWork::norm, 10'000);
  EXPECT_NEAR(cost.us, 4, 1e-12);
  EXPECT_EQ(cost.source, kLayerInterpolated);
  EXPECT_NEAR(least_us(cost.us, cost.doubt), 3.6, 1e-12);
  EXPECT_NEAR(most_us(cost.us, cost.doubt), 4.8, 1e-12);
}

TEST(LayerTimes, beyond_the_amounts_the_line_through_the_nearest_two_goes_on) {
  const Cost more = time_of(LayerWork::norm, 298'000);  // 198,000 more, 6 us for each 99,000
  EXPECT_NEAR(more.us, 20, 1e-12);
  EXPECT_EQ(more.source, kLayerExtrapolated);
  EXPECT_NEAR(least_us(more.us, more.doubt), 10, 1e-12);
  EXPECT_NEAR(most_us(more.us, more.doubt), 41, 1e-12);
  EXPECT_NEAR(time_of(LayerWork::norm, 10).us, 1.94, 1e-12);
}

TEST(LayerTimes, beyond_one_amount_alone_the_assumed_rate_goes_on) {
  EXPECT_NEAR(time_of(LayerWork::rope, 2000).us, 60, 1e-12);  // 50 us and 0.01 us for each
  EXPECT_NEAR(time_of(LayerWork::rope, 500).us, 45, 1e-12);
}

TEST(LayerTimes, works_and_ranks_are_kept_apart) {
  const LayerTimes times(kMeasured);
  EXPECT_FALSE(times.time({LayerWork::activation, 1000}, kBeyond, 1));
  EXPECT_FALSE(times.time({LayerWork::all_gather, 1000, 4}, kBeyond, 1));
  EXPECT_DOUBLE_EQ(time_of(LayerWork::all_gather, 1000, 2).us, 30);
  EXPECT_TRUE(times.has(LayerWork::all_gather));
  EXPECT_FALSE(times.has(LayerWork::all_reduce));
  EXPECT_FALSE(times.has(LayerWork::reduce_scatter));
}

TEST(LayerTimes, a_later_measurement_of_one_amount_counts) {
  std::vector<Measurement> twice = kMeasured;
  twice.push_back(of(LayerWork::norm, 1000, 3));
  EXPECT_DOUBLE_EQ(LayerTimes(twice).time({LayerWork::norm, 1000}, kBeyond, 1)->us, 3);
}

}  // namespace
}  // namespace overlaptune
