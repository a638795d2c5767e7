// No plan is slower than what one would set up by hand, whatever the lengths.

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "planning/sequences/search/solver.hpp"
#include "planning/sequences/simple_plans.hpp"
#include "tests/planning/sequences/costs_7b.hpp"
#include "tests/planning/sequences/one_degree.hpp"
#include "tests/planning/sequences/wikipedia_lengths.hpp"

namespace overlaptune {
namespace {

constexpr double kSlower = 1.01;  // times the best by hand: the most that a plan may take

using Lengths = std::vector<std::int64_t>;

/// Uniform in [least, most]: the standard distributions differ from library to library.
std::int64_t between(std::mt19937_64& random, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
}

double normal(std::mt19937_64& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
  return sum;
}

std::int64_t log_normal(std::mt19937_64& random, double median, double sigma, std::int64_t most) {
  const double length = median * std::exp(sigma * normal(random));
  return std::clamp<std::int64_t>(std::llround(length), 1, most);
}

struct Problem {
  Coefficients costs{};
  Gpus gpus{};
};

/// The published costs, with the published time of a micro-batch or nearly none.
Problem problem(int gpus, double fixed_us) {
  Problem made{.costs = costs_7b(gpus), .gpus = gpus_28g(gpus)};
  if (gpus < 64) made.costs.bytes_of_state = 2e9;
  for (auto& degree : made.costs.degrees) degree.fixed_us = fixed_us;
  return made;
}

void expect_no_slower(const Problem& problem, Lengths lengths, const std::string& what) {
  const std::int64_t unit = 2 * std::int64_t{problem.gpus.count};
  for (std::int64_t& length : lengths) length = (length + unit - 1) / unit * unit;
  const Rates rates(problem.costs, problem.gpus);
  const BatchPlan plan = plan_batch(rates, lengths);
  EXPECT_LE(plan.time_us, by_hand::best_time(problem.costs, problem.gpus, lengths) * kSlower)
      << what;
  EXPECT_LE(plan.lower_bound_us, plan.time_us * (1 + 1e-9)) << what;
  const Runs runs(rates, runs_of(lengths));
  for (int level = 0; level < rates.levels(); ++level) {
    const auto one = plan_with_level(runs, level);
    if (!one) continue;
    EXPECT_LE(plan.time_us, one->time_us * (1 + 1e-9)) << what << ", level " << level;
  }
}

/// Judges plans of some batches on 8, 32 and 64 GPUs, with and without a fixed part.
void judge(const std::function<Lengths(std::mt19937_64&, const Problem&)>& draw) {
  constexpr std::uint64_t kSeeds = 4;
  for (const int gpus : {8, 32, 64}) {
    for (const double fixed_us : {1.0, 629'360.0}) {
      const Problem own = problem(gpus, fixed_us);
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        std::mt19937_64 random(seed);
        expect_no_slower(own, draw(random, own),
                         std::to_string(gpus) + " GPUs, fixed " + std::to_string(fixed_us) +
                             ", seed " + std::to_string(seed));
      }
    }
  }
}

TEST(NoSlower, half_of_the_sequences_need_a_whole_node) {
  // 32 micro-batches of eight long sequences; by tokens alone 28 would do.
  Lengths lengths(256, 40'000);
  lengths.insert(lengths.end(), 256, 500);
  expect_no_slower({costs_7b(64), gpus_28g(64)}, lengths, "40,000 and 500 tokens");
}

TEST(NoSlower, two_lengths) {
  judge([](std::mt19937_64& random, const Problem& problem) {
    const std::int64_t gpus = problem.gpus.count;
    Lengths lengths(static_cast<std::size_t>(between(random, 8, 96)),
                    between(random, gpus * 300, gpus * 1500));
    while (lengths.size() < 160) lengths.push_back(between(random, 100, 2000));
    return lengths;
  });
}

TEST(NoSlower, log_normal_lengths) {
  judge([](std::mt19937_64& random, const Problem& problem) {
    Lengths lengths;
    const std::int64_t most = problem.gpus.count == 8 ? 12'000 : 32'768;
    while (lengths.size() < 256) lengths.push_back(log_normal(random, 2000, 1.2, most));
    return lengths;
  });
}

TEST(NoSlower, uniform_lengths) {
  judge([](std::mt19937_64& random, const Problem& problem) {
    Lengths lengths;
    const std::int64_t most = std::int64_t{problem.gpus.count} * 600;
    while (lengths.size() < 160) lengths.push_back(between(random, 100, most));
    return lengths;
  });
}

TEST(NoSlower, lengths_of_documents) {
  judge([](std::mt19937_64& random, const Problem& problem) {
    Lengths lengths = wikipedia_lengths(256, random());
    for (auto& length : lengths) {
      length = std::min<std::int64_t>(length, std::int64_t{problem.gpus.count} * 2000);
    }
    return lengths;
  });
}

TEST(NoSlower, memory_that_is_nearly_full) {
  judge([](std::mt19937_64& random, const Problem& problem) {
    const int gpus = problem.gpus.count;
    const double share = 0.97 + 0.02 * static_cast<double>(between(random, 0, 100)) / 100;
    double left = by_hand::capacity(problem.costs, problem.gpus, gpus) * share *
                  static_cast<double>(between(random, 1, 4));
    const double median = 400 * std::exp(static_cast<double>(between(random, 0, 200)) / 100);
    const std::int64_t unit = 2 * std::int64_t{gpus};
    Lengths lengths;
    while (lengths.size() < 600) {
      const std::int64_t length =
          (log_normal(random, median, 1, std::int64_t{gpus} * 1500) + unit - 1) / unit * unit;
      left -= static_cast<double>(length);
      if (left < 0 && !lengths.empty()) break;
      lengths.push_back(length);
    }
    return lengths;
  });
}

}  // namespace
}  // namespace overlaptune
