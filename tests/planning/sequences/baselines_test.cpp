#include <vector>

#include <gtest/gtest.h>

#include "planning/sequences/simple_plans.hpp"

namespace overlaptune {
namespace {

/// No exchange, a microsecond for each token, ten for a micro-batch, 100 tokens a GPU.
Coefficients plain_costs(int gpus) {
  Coefficients costs;
  costs.linear_us = 1;
  costs.bytes_of_token = 1;
  for (int degree = 1; degree <= gpus; degree *= 2) costs.degrees.push_back({degree, 0, 10});
  return costs;
}

TEST(Baselines, one_degree_by_hand) {
  const Coefficients costs = plain_costs(2);
  const Rates rates(costs, {2, 2, 100});
  const Runs runs(rates, runs_of(std::vector<std::int64_t>{60, 60, 40, 40, 40}));
  // Degree 1: {60, 40} beside {60, 40} in 110 us, then {40} in 50. Spread over four groups, {40,
  // 40} beside {60} in 90, {60} beside {40} in 70: no faster.
  EXPECT_DOUBLE_EQ(plan_with_level(runs, 0)->time_us, 160);
  // Degree 2: 200 tokens in 110 us, 40 in 30.
  EXPECT_DOUBLE_EQ(plan_with_level(runs, 1)->time_us, 140);
}

TEST(Baselines, a_degree_that_does_not_hold_a_sequence_has_no_plan) {
  const Coefficients costs = plain_costs(2);
  const Rates rates(costs, {2, 2, 100});
  const Runs runs(rates, runs_of(std::vector<std::int64_t>{101, 1}));
  EXPECT_FALSE(plan_with_level(runs, 0));
  EXPECT_TRUE(plan_with_level(runs, 1));
}

}  // namespace
}  // namespace overlaptune
