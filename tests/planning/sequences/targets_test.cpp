#include "planning/sequences/search/targets.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "planning/sequences/search/lower_bound.hpp"

namespace overlaptune {
namespace {

/// A microsecond for each token, ten for a group, 100 tokens a GPU.
Coefficients costs_of_targets() {
  Coefficients costs;
  costs.linear_us = 1;
  costs.bytes_of_token = 1;
  costs.degrees = {{1, 0, 10}, {2, 0, 10}};
  return costs;
}

TEST(Targets, of_two_micro_batches_by_hand) {
  const Coefficients costs = costs_of_targets();
  const Rates rates(costs, {2, 2, 100});
  const Runs runs(rates, runs_of(std::vector<std::int64_t>{100, 90, 10, 9}));
  // With 110 us, the first one takes 100 beside 90 and 10. It leaves 9, which take 4.5 us on two
  // GPUs, and the ten of a group.
  const std::vector<Targets> found = search_targets(runs, 2, 0);
  ASSERT_FALSE(found.empty());
  EXPECT_NEAR(found.front().sum, 110 + 14.5, 1e-9);
}

/// The search begins with targets that are all alike but the first one.
TEST(Targets, are_varied_one_by_one) {
  const Coefficients costs = costs_of_targets();
  const Rates rates(costs, {4, 4, 100});
  std::mt19937 random(3);
  int varied = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 24; ++i) lengths.push_back(5 + static_cast<std::int64_t>(random() % 90));
    const Runs runs(rates, runs_of(lengths));
    const std::vector<Targets> found = search_targets(runs, 4, 0);
    for (const Targets& targets : found) {
      ASSERT_EQ(targets.times.size(), 4U);
      EXPECT_GE(targets.sum, lower_bound(runs, runs.counts(), 4) * (1 - 1e-9));
      EXPECT_GE(targets.sum, found.front().sum);
    }
    if (!found.empty() && found.front().times[1] != found.front().times[2]) ++varied;
  }
  EXPECT_GT(varied, 5);
}

}  // namespace
}  // namespace overlaptune
