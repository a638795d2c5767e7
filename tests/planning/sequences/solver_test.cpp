// Plans judged by a checker of their own, by enumeration, and by a greedy planner.

#include "planning/sequences/search/solver.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "tests/planning/sequences/costs_7b.hpp"
#include "tests/planning/sequences/enumeration.hpp"
#include "tests/planning/sequences/wikipedia_lengths.hpp"

namespace overlaptune {
namespace {

/// Recomputes everything that a plan says from the formulas of docs/sequences.md.
void expect_sound(const BatchPlan& plan, std::vector<std::int64_t> lengths,
                  const Coefficients& costs, const Gpus& gpus) {
  std::vector<std::int64_t> placed;
  double total = 0;
  for (const MicroBatch& part : plan.micro_batches) {
    double slowest = 0;
    int next = 0;
    for (const Group& group : part.groups) {
      EXPECT_EQ(group.first_gpu % group.degree, 0);
      EXPECT_GE(group.first_gpu, next);
      EXPECT_FALSE(group.sequences.empty());
      next = group.first_gpu + group.degree;
      double work = 0;
      double tokens = 0;
      for (const std::int64_t length : group.sequences) {
        const auto s = static_cast<double>(length);
        work += costs.quadratic_us * s * s + costs.linear_us * s;
        tokens += s;
        placed.push_back(length);
      }
      const double time = work / group.degree + costs.fixed_us(group.degree) +
                          costs.exchange_us_per_token(group.degree) * tokens;
      const double bytes = costs.bytes_of_state + tokens / group.degree * costs.bytes_of_token;
      EXPECT_NEAR(group.time_us, time, 1e-6 * time);
      EXPECT_NEAR(group.memory_bytes, bytes, 1e-6 * bytes);
      EXPECT_LE(bytes, gpus.memory_bytes);
      slowest = std::max(slowest, time);
    }
    EXPECT_LE(next, gpus.count);
    EXPECT_NEAR(part.time_us, slowest, 1e-6 * slowest);
    total += slowest;
  }
  EXPECT_NEAR(plan.time_us, total, 1e-6 * total);
  EXPECT_LE(plan.lower_bound_us, plan.time_us * (1 + 1e-9));
  std::sort(placed.begin(), placed.end());
  std::sort(lengths.begin(), lengths.end());
  EXPECT_EQ(placed, lengths);
}

BatchPlan plan(const Coefficients& costs, const Gpus& gpus,
               const std::vector<std::int64_t>& lengths) {
  const Rates rates(costs, gpus);
  return plan_batch(rates, lengths);
}

/// Longest first, each sequence where it ends soonest: in an open group or a new one, of any degree
/// or (`narrow`) of the least that holds it. What fits nowhere begins a micro-batch.
double greedy_time(const Coefficients& costs, const Gpus& gpus, std::vector<std::int64_t> lengths,
                   bool narrow) {
  struct Open {
    int degree;
    double time;
    double tokens;
  };
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  double total = 0;
  std::vector<Open> groups;
  int left = gpus.count;
  const auto finish = [&] {
    double slowest = 0;
    for (const Open& group : groups) slowest = std::max(slowest, group.time);
    total += slowest;
    groups.clear();
    left = gpus.count;
  };
  for (std::size_t i = 0; i < lengths.size();) {
    const auto s = static_cast<double>(lengths[i]);
    const auto time = [&](int degree) {
      return costs.compute_us(lengths[i]) / degree + costs.exchange_us_per_token(degree) * s;
    };
    const auto holds = [&](int degree, double tokens) {
      return costs.bytes_of_state + tokens / degree * costs.bytes_of_token <= gpus.memory_bytes;
    };
    double soonest = std::numeric_limits<double>::infinity();
    Open* joined = nullptr;
    int opened = 0;
    for (Open& group : groups) {
      const double end = group.time + time(group.degree);
      if (end >= soonest || !holds(group.degree, group.tokens + s)) continue;
      soonest = end;
      joined = &group;
    }
    for (int degree = 1; degree <= left; degree *= 2) {
      const double end = costs.fixed_us(degree) + time(degree);
      if (end >= soonest || !holds(degree, s)) continue;
      soonest = end;
      joined = nullptr;
      opened = degree;
      if (narrow) break;
    }
    if (joined != nullptr) {
      joined->time = soonest;
      joined->tokens += s;
    } else if (opened > 0) {
      groups.push_back({opened, soonest, s});
      left -= opened;
    } else {
      finish();
      continue;
    }
    ++i;
  }
  finish();
  return total;
}

std::vector<std::int64_t> wikipedia_batch(std::size_t count, std::uint64_t seed, std::int64_t most,
                                          std::int64_t unit) {
  std::vector<std::int64_t> lengths = wikipedia_lengths(count, seed);
  for (std::int64_t& length : lengths) {
    length = (std::min(length, most) + unit - 1) / unit * unit;
  }
  return lengths;
}

TEST(Solver, few_sequences_come_within_half_a_percent_of_the_optimum) {
  std::mt19937 random(7);
  double sum = 0;
  constexpr int kProblems = 200;
  for (int i = 0; i < kProblems; ++i) {
    const SmallProblem problem = small_problem(random, 1, 8);
    const BatchPlan made = plan(problem.costs, problem.gpus, problem.lengths);
    expect_sound(made, problem.lengths, problem.costs, problem.gpus);
    const double least = least_batch_time(problem.costs, problem.gpus, problem.lengths);
    EXPECT_GE(made.time_us, least * (1 - 1e-9)) << "problem " << i;
    EXPECT_LE(made.lower_bound_us, least * (1 + 1e-9)) << "problem " << i;
    EXPECT_LE(made.time_us, least * 1.03) << "problem " << i;
    sum += made.time_us / least - 1;
  }
  EXPECT_LE(sum / kProblems, 0.005);
}

TEST(Solver, batches_of_512_come_within_five_percent_of_their_bound) {
  const Coefficients costs = costs_7b(64);
  const Gpus gpus = gpus_28g(64);
  double over = 0;
  double error = 0;
  constexpr int kBatches = 10;
  for (std::uint64_t seed = 1; seed <= kBatches; ++seed) {
    const auto lengths = wikipedia_batch(512, seed, 192 * 1024, 128);
    const BatchPlan made = plan(costs, gpus, lengths);
    expect_sound(made, lengths, costs, gpus);
    for (const bool narrow : {false, true}) {
      EXPECT_LE(made.time_us, greedy_time(costs, gpus, lengths, narrow)) << "seed " << seed;
    }
    over += made.time_us / made.lower_bound_us - 1;
    error += made.bucket_error;
    EXPECT_LE(made.bucket_error, 0.023) << "seed " << seed;
  }
  EXPECT_LE(over / kBatches, 0.05);
  EXPECT_LE(error / kBatches, 0.011);
}

TEST(Solver, a_thousand_gpus_have_sound_plans) {
  const Coefficients costs = costs_7b(1024);
  const Gpus gpus = gpus_28g(1024);
  const auto lengths = wikipedia_batch(4096, 3, 192 * 1024, 2048);
  expect_sound(plan(costs, gpus, lengths), lengths, costs, gpus);
}

TEST(Solver, one_sequence_that_fills_all_memory_takes_all_gpus) {
  const Coefficients costs = costs_7b(4);
  const Gpus gpus{4, 4, 36.0 * (1 << 30)};
  const double free = gpus.memory_bytes - costs.bytes_of_state;
  const auto most = static_cast<std::int64_t>(free * 4 / costs.bytes_of_token);
  const BatchPlan made = plan(costs, gpus, {most, most, 8});
  expect_sound(made, {most, most, 8}, costs, gpus);
  EXPECT_EQ(made.micro_batches.size(), 3U);
}

TEST(Solver, memory_that_rounded_lengths_exceed_is_used_to_the_last_token) {
  // Eight equal sequences that fill every GPU, beside each other length a little shorter.
  const Coefficients costs = costs_7b(8);
  Gpus gpus = gpus_28g(8);
  gpus.memory_bytes = costs.bytes_of_state + costs.bytes_of_token * 4096;
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < 64; ++i) lengths.push_back(512 - 16 * (i % 4));
  const BatchPlan made = plan(costs, gpus, lengths);
  expect_sound(made, lengths, costs, gpus);
  EXPECT_EQ(made.micro_batches.size(), 1U);
}

TEST(Solver, the_same_batch_has_the_same_plan) {
  const Coefficients costs = costs_7b(16);
  const Gpus gpus = gpus_28g(16);
  std::vector<std::int64_t> lengths = wikipedia_batch(24, 5, 32 * 1024, 32);
  const double first = plan(costs, gpus, lengths).time_us;
  std::reverse(lengths.begin(), lengths.end());
  EXPECT_EQ(plan(costs, gpus, lengths).time_us, first);
}

}  // namespace
}  // namespace overlaptune
