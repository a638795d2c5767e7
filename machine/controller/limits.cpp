#include "machine/controller/limits.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace overlaptune::cuda {
namespace {

/// The expected time of a step; zero if unknown.
Microseconds expected_of(const RunStep& step, const std::vector<Microseconds>& expected) {
  if (step.config < 0 || step.step == "time")
    return std::accumulate(expected.begin(), expected.end(), Microseconds{});
  const auto index = static_cast<std::size_t>(step.config);
  return index < expected.size() ? expected[index] : Microseconds{};
}

}  // namespace

Limits limits_of_sharing_ranks() {
  constexpr int kLonger = 5;
  Limits limits;
  for (auto* limit :
       {&limits.join, &limits.unknown, &limits.prepare, &limits.check, &limits.time}) {
    *limit *= kLonger;
  }
  return limits;
}

std::chrono::milliseconds limit_after(const RunStep* step, const Limits& limits,
                                      const std::vector<Microseconds>& expected, int repetitions) {
  constexpr double kPrepareFactor = 2000;
  constexpr double kTimeFactor = 200;
  constexpr Microseconds kLongest = std::chrono::hours(1);
  if (step == nullptr) return limits.unknown;
  const Microseconds time = expected_of(*step, expected);
  if (!std::isfinite(time.count()) || time.count() <= 0) return limits.unknown;
  const Microseconds limit =
      step->step == "time"
          ? Microseconds(limits.time) + kTimeFactor * std::max(repetitions, 1) * time
          : Microseconds(step->step == "check" ? limits.check : limits.prepare) +
                kPrepareFactor * time;
  return std::chrono::ceil<std::chrono::milliseconds>(std::min(limit, kLongest));
}

}  // namespace overlaptune::cuda
