// Micro-batches that are made faster by moving sequences: a microsecond for each token, ten for a
// group, 100 tokens a GPU.

#include "planning/sequences/search/refine.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

Coefficients plain_costs() {
  Coefficients costs;
  costs.linear_us = 1;
  costs.bytes_of_token = 1;
  costs.degrees = {{1, 0, 10}};
  return costs;
}

/// A micro-batch with a group for each entry: runs of one sequence each, with these tokens.
Filled micro_batch(const std::vector<std::pair<int, std::int64_t>>& groups) {
  Filled filled;
  for (const auto& [run, tokens] : groups) {
    filled.parts.push_back({static_cast<int>(filled.groups.size()), run, 1});
    filled.groups.push_back(
        {.level = 0, .time = 10 + static_cast<double>(tokens), .tokens = tokens, .sequences = 1});
  }
  return filled;
}

double sum_of(const std::vector<Filled>& micro_batches) {
  double sum = 0;
  for (const Filled& part : micro_batches) sum += part.time();
  return sum;
}

TEST(Refine, a_micro_batch_that_fits_into_another_goes) {
  const Coefficients costs = plain_costs();
  const Rates rates(costs, {1, 1, 100});
  const Runs runs(rates, runs_of(std::vector<std::int64_t>{60, 30, 20}));
  const std::vector<Filled> made =
      refine(runs, {micro_batch({{0, 60}}), micro_batch({{1, 30}}), micro_batch({{2, 20}})});
  // 110 tokens need two micro-batches of one GPU.
  EXPECT_EQ(made.size(), 2U);
  EXPECT_DOUBLE_EQ(sum_of(made), 110 + 2 * 10);
}

TEST(Refine, two_sequences_change_places) {
  const Coefficients costs = plain_costs();
  const Rates rates(costs, {2, 2, 100}, {.sequences_of_group = 1});
  const Runs runs(rates, runs_of(std::vector<std::int64_t>{50, 40, 20, 10}));
  const std::vector<Filled> begin{micro_batch({{0, 50}, {3, 10}}), micro_batch({{1, 40}, {2, 20}})};
  ASSERT_DOUBLE_EQ(sum_of(begin), 60 + 50);
  // The two long ones take 60 us beside each other, the two short ones 30.
  const std::vector<Filled> made = refine(runs, begin);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_DOUBLE_EQ(sum_of(made), 60 + 30);
  std::vector<double> times{made[0].time(), made[1].time()};
  std::sort(times.begin(), times.end());
  EXPECT_EQ(times, (std::vector<double>{30, 60}));
}

/// Three GPUs, a sequence for each: the three longest belong together, then the next three, and so
/// on. From any other plan an exchange of two sequences leads nearer to this one.
TEST(Refine, from_any_plan_the_longest_sequences_come_together) {
  const Coefficients costs = plain_costs();
  const Rates rates(costs, {3, 3, 100}, {.most_degree = 1, .sequences_of_group = 1});
  std::vector<std::int64_t> lengths;  // 90, 87, ... 3
  for (std::int64_t length = 90; length > 0; length -= 3) lengths.push_back(length);
  const Runs runs(rates, runs_of(lengths));
  std::vector<int> order(30);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  for (int plan = 0; plan < 6; ++plan) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Filled> begin;
    for (std::size_t i = 0; i < order.size(); i += 3) {
      std::vector<std::pair<int, std::int64_t>> groups;
      for (const std::size_t j : {i, i + 1, i + 2}) {
        groups.emplace_back(order[j], lengths[static_cast<std::size_t>(order[j])]);
      }
      begin.push_back(micro_batch(groups));
    }
    // The longest of the ten micro-batches have 90, 81, ... 9 tokens.
    EXPECT_DOUBLE_EQ(sum_of(refine(runs, begin)), 495 + 10 * 10) << plan;
  }
}

}  // namespace
}  // namespace overlaptune
