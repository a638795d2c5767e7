// Plans keep what the program that runs them allows.

#include "planning/sequences/limits.hpp"

#include <gtest/gtest.h>

#include "planning/sequences/search/solver.hpp"
#include "planning/sequences/simple_plans.hpp"
#include "tests/planning/sequences/costs_7b.hpp"
#include "tests/planning/sequences/wikipedia_lengths.hpp"

namespace overlaptune {
namespace {

using Lengths = std::vector<std::int64_t>;

/// Recomputes what the limits say of a plan, and its memory, from lengths alone.
void expect_kept(const BatchPlan& plan, const Coefficients& costs, const Gpus& gpus,
                 const Limits& limits, std::size_t sequences) {
  EXPECT_EQ(plan.micro_batches.size() % static_cast<std::size_t>(limits.micro_batches), 0U);
  std::size_t placed = 0;
  for (const MicroBatch& part : plan.micro_batches) {
    EXPECT_FALSE(part.groups.empty());
    for (const Group& group : part.groups) {
      EXPECT_GE(group.degree, limits.least_degree);
      EXPECT_LE(group.degree, limits.most_degree.value_or(gpus.count));
      EXPECT_LE(group.first_gpu + group.degree, gpus.count);
      EXPECT_FALSE(group.sequences.empty());
      if (limits.sequences_of_group) {
        EXPECT_LE(group.sequences.size(), static_cast<std::size_t>(*limits.sequences_of_group));
      }
      const std::int64_t multiple =
          limits.padding.value_or(0) * (limits.padding_by_degree ? group.degree : 1);
      double time = costs.fixed_us(group.degree);
      std::int64_t tokens = 0;
      for (const std::int64_t length : group.sequences) {
        std::int64_t padded = length;
        while (multiple > 0 && padded % multiple != 0) ++padded;
        const auto s = static_cast<double>(padded);
        tokens += padded;
        time += (costs.quadratic_us * s * s + costs.linear_us * s) / group.degree +
                costs.exchange_us_per_token(group.degree) * s;
      }
      EXPECT_EQ(group.tokens, tokens);
      EXPECT_NEAR(group.time_us, time, 1e-6 * time);
      EXPECT_LE(
          costs.bytes_of_state + static_cast<double>(tokens) / group.degree * costs.bytes_of_token,
          gpus.memory_bytes);
      placed += group.sequences.size();
    }
  }
  EXPECT_EQ(placed, sequences);
  EXPECT_LE(plan.lower_bound_us, plan.time_us * (1 + 1e-9));
}

TEST(Limits, are_kept_in_plans_and_in_baselines) {
  const Coefficients costs = costs_7b(64);
  const Gpus gpus = gpus_28g(64);
  const Limits each[] = {{.least_degree = 4},
                         {.most_degree = 32},
                         {.sequences_of_group = 3},
                         {.micro_batches = 4},
                         {.padding = 2, .padding_by_degree = true},
                         {.padding = 128},
                         {.least_degree = 2,
                          .most_degree = 32,
                          .sequences_of_group = 5,
                          .micro_batches = 3,
                          .padding = 8,
                          .padding_by_degree = true}};
  for (const Limits& limits : each) {
    for (const std::size_t count : {20U, 300U}) {
      Lengths lengths = wikipedia_lengths(count, 11);
      for (auto& length : lengths) length = std::min<std::int64_t>(length, 96 * 1024);
      const Rates rates(costs, gpus, limits);
      const BatchPlan plan = plan_batch(rates, lengths);
      expect_kept(plan, costs, gpus, limits, count);
      const Runs runs(rates, runs_of(lengths));
      for (int level = 0; level < rates.levels(); ++level) {
        const auto one = plan_with_level(runs, level);
        if (!one) continue;
        expect_kept(*one, costs, gpus, limits, count);
        EXPECT_LE(plan.time_us, one->time_us * (1 + 1e-9));
      }
    }
  }
}

TEST(Limits, fewer_sequences_than_micro_batches_have_no_plan) {
  const Coefficients costs = costs_7b(8);
  const Gpus gpus{8, 8, 36.0 * (1 << 30)};
  const Rates rates(costs, gpus, {.micro_batches = 4});
  EXPECT_TRUE(plan_batch(rates, Lengths{100, 200, 300}).micro_batches.empty());
  EXPECT_EQ(plan_batch(rates, Lengths{100, 200, 300, 400}).micro_batches.size(), 4U);
}

TEST(Limits, padding_by_degree_costs_a_short_sequence_nothing_on_one_gpu) {
  const Coefficients costs = costs_7b(8);
  const Gpus gpus{8, 8, 36.0 * (1 << 30)};
  const Rates rates(costs, gpus, {.padding = 2, .padding_by_degree = true});
  const BatchPlan plan = plan_batch(rates, Lengths(8, 101));
  EXPECT_EQ(plan.tokens, 8 * 102);
}

TEST(Limits, heads_bound_the_widest_group_where_nothing_narrower_does) {
  const auto bound = [](AskedLimits asked, std::int64_t heads) {
    return choose_limits(asked, 64, heads).heads_bound;
  };
  EXPECT_TRUE(bound({}, 12));
  EXPECT_TRUE(bound({.most_degree = 8}, 12));
  EXPECT_FALSE(bound({.most_degree = 2}, 12));
  EXPECT_FALSE(bound({}, 64));
}

}  // namespace
}  // namespace overlaptune
