// Bounds that are worked out by hand.

#include "planning/sequences/search/lower_bound.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using SequenceLengths = std::vector<std::int64_t>;

/// A microsecond and a byte for each token, ten microseconds for a group of any degree.
Coefficients costs_of_bound() {
  Coefficients costs;
  costs.linear_us = 1;
  costs.bytes_of_token = 1;
  costs.degrees = {{1, 0, 10}};
  return costs;
}

/// Bisection ends at a millionth.
void expect_bound(double bound, double expected) {
  EXPECT_NEAR(bound, expected, 2e-6 * expected);
}

int fewest(const Gpus& gpus, const Limits& limits, const SequenceLengths& lengths) {
  const Coefficients costs = costs_of_bound();
  const Rates rates(costs, gpus, limits);
  const Runs runs(rates, runs_of(lengths));
  return fewest_micro_batches(runs, runs.counts());
}

double batch_bound(const Costs& costs, const Gpus& gpus, const Limits& limits,
                   const SequenceLengths& lengths) {
  const Rates rates(costs, gpus, limits);
  return batch_lower_bound(Runs(rates, runs_of(lengths)));
}

TEST(LowerBound, the_fewest_micro_batches_hold_all_tokens) {
  EXPECT_EQ(fewest({1, 1, 100}, {}, {60, 40}), 1);
  EXPECT_EQ(fewest({1, 1, 100}, {}, {60, 41}), 2);
  EXPECT_EQ(fewest({2, 2, 100}, {}, {60, 60, 60, 20}), 1);
  EXPECT_EQ(fewest({2, 2, 100}, {}, {60, 60, 60, 21}), 2);
  EXPECT_EQ(fewest({1, 1, 100}, {.padding = 32}, {60, 33}), 2);  // 64 tokens each
}

TEST(LowerBound, the_fewest_micro_batches_have_groups_for_all_sequences) {
  EXPECT_EQ(fewest({2, 2, 100}, {.sequences_of_group = 1}, {1, 1, 1, 1}), 2);
  EXPECT_EQ(fewest({2, 2, 100}, {.sequences_of_group = 1}, {1, 1, 1, 1, 1}), 3);
  EXPECT_EQ(fewest({2, 2, 100}, {.sequences_of_group = 2}, {1, 1, 1, 1, 1}), 2);
  EXPECT_EQ(fewest({2, 2, 100}, {.least_degree = 2, .sequences_of_group = 1}, {1, 1, 1}), 3);
}

TEST(LowerBound, sequences_count_with_the_cheapest_degree_on_which_they_end_in_time) {
  Coefficients costs = costs_of_bound();
  costs.degrees = {{1, 0, 10}, {2, 0.25, 5}};
  const Rates rates(costs, {2, 2, 1000});
  const Runs runs(rates, runs_of(SequenceLengths{60, 10}));
  // Two GPUs run 60 tokens in 30 + 15 us, which is 90 us of GPU time; one GPU in 60 us.
  // In 50 us: 90 us and the 10 us of the other one, on two GPUs.
  expect_bound(lower_bound(runs, Counts{1, 1}, 1), 5 + 50);
  expect_bound(lower_bound(runs, Counts{1, 1}, 3), 3 * 5 + 50);
  // Two of them side by side take 60 us; one alone is fastest on both GPUs.
  expect_bound(lower_bound(runs, Counts{2, 0}, 1), 5 + 60);
  expect_bound(lower_bound(runs, Counts{0, 1}, 1), 5 + 7.5);
}

TEST(LowerBound, a_batch_has_whole_multiples_of_micro_batches) {
  const Coefficients costs = costs_of_bound();
  const SequenceLengths lengths{20, 20, 20, 20, 20};  // one to a micro-batch
  expect_bound(batch_bound(costs, {1, 1, 20}, {}, lengths), 100 + 5 * 10);
  expect_bound(batch_bound(costs, {1, 1, 20}, {.micro_batches = 4}, lengths), 100 + 8 * 10);
  expect_bound(batch_bound(costs, {1, 1, 20}, {.micro_batches = 5}, lengths), 100 + 5 * 10);
  expect_bound(batch_bound(costs, {1, 1, 100}, {.micro_batches = 3}, lengths), 100 + 3 * 10);
}

TEST(LowerBound, tokens_that_memory_does_not_hold_run_after_the_longest_sequence) {
  Coefficients costs = costs_of_bound();
  costs.linear_us = 0;
  costs.quadratic_us = 0.01;
  // 100, 16 and 4 us. Of 300 tokens 200 run beside the longest. The others are at least the 40 of
  // the shortest at 0.2 us each and 60 at 0.4 us: 32 us, on two GPUs.
  expect_bound(batch_bound(costs, {2, 2, 100}, {.most_degree = 1}, {100, 40, 40, 40, 40, 20, 20}),
               100 + 16 + 2 * 10);
  // Memory holds the longest alone; 60 tokens at 0.2 us run after it.
  expect_bound(batch_bound(costs, {1, 1, 100}, {}, {100, 20, 20, 20}), 100 + 12 + 2 * 10);
}

TEST(LowerBound, tokens_that_share_the_longest_sequences_group_pay_for_its_degree) {
  Coefficients costs;
  costs.quadratic_us = 0.1;
  costs.bytes_of_token = 1;
  const SequenceLengths lengths{150, 50, 50, 50, 50, 50};  // they fill the memory of four GPUs
  // On two GPUs the longest takes 2250 / 2 = 1125 us, on four 2250 / 4 + 75 = 637.5 us. The others
  // fit nowhere but beside it, where each takes 250 / 4 + 25 us.
  costs.degrees = {{1, 0, 200}, {2, 0, 200}, {4, 0.5, 200}};
  expect_bound(batch_bound(costs, {4, 4, 100}, {}, lengths), 637.5 + 5 * 87.5 + 200);
  // Where micro-batches cost little there are two, and the others run on one GPU each: 250 us.
  costs.degrees = {{1, 0, 10}, {2, 0, 10}, {4, 0.5, 10}};
  expect_bound(batch_bound(costs, {4, 4, 100}, {}, lengths), (4 * 637.5 + 5 * 250) / 4 + 2 * 10);
  // Others of 25 tokens take 62.5 us on one GPU. Two micro-batches hold 650 tokens: 400 in the
  // second one and 250 in the group of the longest, so 100 of the others pay 2 us more for each
  // token.
  SequenceLengths many(20, 25);
  many.push_back(150);
  costs.degrees = {{1, 0, 200}, {2, 0, 200}, {4, 0.5, 200}};
  expect_bound(batch_bound(costs, {4, 4, 100}, {}, many),
               (4 * 637.5 + 20 * 62.5 + 100 * 2) / 4 + 2 * 200);
}

TEST(LowerBound, one_token_without_room_is_a_reason_for_another_micro_batch) {
  Coefficients costs = costs_of_bound();
  costs.degrees = {{1, 0, 0.25}, {2, 1, 0.25}};
  // Four tokens take 2 + 4 us on two GPUs. The fifth runs beside them at 3 us of GPU time, or at 1
  // us in a micro-batch of its own.
  expect_bound(batch_bound(costs, {2, 2, 3}, {}, {4, 1}), (12 + 1) / 2.0 + 2 * 0.25);
}

}  // namespace
}  // namespace overlaptune
