#include "machine/simulator/noise.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace overlaptune::sim {
namespace {

TEST(Noise, normal_numbers_have_mean_zero_and_deviation_one) {
  const Noise noise(3);
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  constexpr int kCount = 200000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double x = noise.normal(i);
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.01);
  EXPECT_NEAR(fourth / kCount, 2.7, 0.05);  // four uniform numbers: 3 - 1.2 / 4
}

TEST(Noise, uniform_numbers_fill_the_unit_interval) {
  const Noise noise(5);
  int below = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    ASSERT_GE(noise.uniform(i), 0);
    ASSERT_LT(noise.uniform(i), 1);
    if (noise.uniform(i) < 0.3) ++below;
  }
  EXPECT_NEAR(below / 10000.0, 0.3, 0.02);
}

TEST(Noise, streams_are_unrelated_and_repeatable) {
  const Noise noise(9);
  EXPECT_EQ(noise.stream("a").normal(1), noise.stream("a").normal(1));
  double product = 0;
  for (std::uint64_t i = 0; i < 50000; ++i) {
    product += noise.stream("a").normal(i) * noise.stream("b").normal(i);
    product += noise.stream(1).normal(i) * noise.stream(2).normal(i);
  }
  EXPECT_NEAR(product / 100000, 0, 0.02);
}

}  // namespace
}  // namespace overlaptune::sim
