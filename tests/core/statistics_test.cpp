#include "core/statistics.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

TEST(Statistics, quantiles_are_linear_between_order_statistics) {
  const std::vector<double> samples{5, 1, 3, 2, 4};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.9), 4.6);  // R type 7, numpy's default
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 5);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Statistics, the_geometric_mean_is_the_root_of_the_product) {
  const std::vector<double> samples{1, 2, 4};
  EXPECT_NEAR(geometric_mean(samples), 2, 1e-12);
  EXPECT_TRUE(std::isnan(geometric_mean({})));
}

TEST(Statistics, student_quantiles_are_those_of_printed_tables) {
  // Abramowitz and Stegun, table 26.10, which has three decimals.
  EXPECT_NEAR(student_quantile(0.975, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 3), 3.182, 5e-4);
  EXPECT_NEAR(student_quantile(0.9, 7), 1.415, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 29), 2.045, 5e-4);
  EXPECT_NEAR(student_quantile(0.9, 10), 1.372, 5e-4);
  EXPECT_NEAR(student_quantile(0.95, 2), 2.920, 5e-4);
  EXPECT_NEAR(student_quantile(0.975, 4), 2.776, 5e-4);
  EXPECT_NEAR(student_quantile(0.9, 30), 1.310, 5e-4);
  EXPECT_NEAR(student_quantile(0.995, 120), 2.617, 5e-4);
}

TEST(Statistics, an_interval_of_the_median_is_that_of_printed_tables) {
  // The sign test (Dixon and Massey, table A-10a, 5 % in two tails): the number of the least
  // observation, from 1.
  for (const auto& [count, number] : {std::pair{6, 1},
                                      {8, 1},
                                      {9, 2},
                                      {11, 2},
                                      {12, 3},
                                      {14, 3},
                                      {15, 4},
                                      {17, 5},
                                      {20, 6},
                                      {23, 7},
                                      {24, 7},
                                      {25, 8}}) {
    std::vector<double> samples;
    for (int i = count; i > 0; --i) samples.push_back(i);
    const auto interval = median_interval(samples);
    ASSERT_TRUE(interval) << count;
    EXPECT_EQ(interval->low, number) << count;
    EXPECT_EQ(interval->high, count + 1 - number) << count;
  }
  EXPECT_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_FALSE(median_interval({}));
}

/// The interval of 2,000 samples reaches 1.96 * sqrt(2000) / 2 = 44 samples to each side.
TEST(Statistics, an_interval_of_the_median_of_many_samples_is_narrow) {
  std::vector<double> samples;
  for (int i = 1; i <= 2000; ++i) samples.push_back(i);
  const auto interval = median_interval(samples);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 1000.5 - 44, 1.5);
  EXPECT_NEAR(interval->high, 1000.5 + 44, 1.5);
}

TEST(Statistics, a_summary_counts_and_orders) {
  const std::vector<Microseconds> samples{us(10), us(30), us(20)};
  const Summary summary = summarize(samples);
  EXPECT_EQ(summary.median, us(20));
  EXPECT_NEAR(summary.p10.count(), 12, 1e-12);
  EXPECT_NEAR(summary.p90.count(), 28, 1e-12);
  EXPECT_EQ(summary.count, 3);
}

}  // namespace
}  // namespace overlaptune
