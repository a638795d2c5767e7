#pragma once
// The published coefficients of a model with 7 billion parameters, and random batches, for tests.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "planning/sequences/costs.hpp"
#include "planning/sequences/plan.hpp"

namespace overlaptune {

/// FlexSP's coefficients on A100-40GB, 8 GPUs a node (Wang et al., ASPLOS 2025), up to 64 GPUs; the
/// bandwidth of 64 GPUs stands for more.
inline Coefficients costs_7b(int gpus) {
  constexpr double kGbPerS[] = {0, 119.54, 104.07, 96.5, 10.33, 5.94, 4.87};
  Coefficients costs;
  costs.quadratic_us = 5.128e-3;
  costs.linear_us = 183.96;
  costs.bytes_of_token = 4.48 * (1 << 20);
  costs.bytes_of_state = 16 * 7.12e9 / gpus;
  for (int level = 0; (1 << level) <= gpus; ++level) {
    const double bytes = 8.0 * 32 * 4096 * 2 / (1 << level);
    const double exchange = level == 0 ? 0 : bytes / (kGbPerS[std::min(level, 6)] * 1e3);
    costs.degrees.push_back({1 << level, exchange, 629'360});
  }
  return costs;
}

inline Gpus gpus_28g(int count) {
  return {count, std::min(count, 8), 28.0 * (1 << 30)};
}

/// A small problem: 2 to 16 GPUs, long-tailed lengths that memory holds, with a fixed part of a
/// micro-batch from none to the published one.
struct SmallProblem {
  Gpus gpus{};
  Coefficients costs{};
  std::vector<std::int64_t> lengths{};
};

inline SmallProblem small_problem(std::mt19937& random, int fewest, int most) {
  SmallProblem made{.gpus = gpus_28g(2 << random() % 4)};
  const int gpus = made.gpus.count;
  made.costs = costs_7b(gpus);
  made.costs.bytes_of_state = 2e9;
  constexpr double kFixed[] = {0, 50'000, 629'360};
  const double fixed = kFixed[random() % 3];
  for (auto& degree : made.costs.degrees) degree.fixed_us = fixed;
  const double free = made.gpus.memory_bytes - made.costs.bytes_of_state;
  const auto longest = static_cast<std::int64_t>(free * gpus / made.costs.bytes_of_token);
  const double tail = 0.5 + static_cast<double>(random() % 200) / 100;
  const auto count =
      static_cast<std::size_t>(fewest) + random() % static_cast<unsigned>(most - fewest + 1);
  while (made.lengths.size() < count) {
    const double share = static_cast<double>(random() % 100'000 + 1) / 1e5;
    const double length = std::min(200 * std::pow(share, -tail), static_cast<double>(longest));
    const std::int64_t unit = 2 * gpus;
    made.lengths.push_back(std::max<std::int64_t>(1, std::llround(length) / unit) * unit);
  }
  return made;
}

}  // namespace overlaptune
