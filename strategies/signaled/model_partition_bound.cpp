#include "strategies/signaled/model_partition_bound.hpp"

namespace overlaptune {
namespace {

/// The curve of the last group.
const Curve& last_curve(const WholeProblem& problem) {
  return problem.last != nullptr ? *problem.last : *problem.collective;
}

/// When the consumer may start on the first group.
double first_start(const WholeProblem& problem) {
  return problem.start + problem.first + problem.rates.trigger;
}

/// The least of `last(x) + before(x)` over the bytes x of the last group, from `low` to `high`.
/// `last` does not fall with x, and `before` does not grow. `known` is a sum that is known to be
/// possible, or enough.
template <class Last, class Before>
double least_sum(double low, double high, int halvings, double& known, const Last& last,
                 const Before& before) {
  constexpr double kFine = 3e-3;
  const double bound = last(low) + before(high);
  if (halvings == 0 || bound >= known * (1 - kFine)) return bound;
  const double middle = (low + high) / 2;
  known = std::min(known, last(middle) + before(middle));
  return std::min(least_sum(low, middle, halvings - 1, known, last, before),
                  least_sum(middle, high, halvings - 1, known, last, before));
}

}  // namespace

LeastTimes least_times(const WholeProblem& problem) {
  const Curve& curve = *problem.collective;
  const double bytes = problem.bytes;
  const double gap = problem.rates.gap;
  const double shared = problem.shared;
  LeastTimes least{.one = curve(0) - shared,
                   .per_byte = curve.least_time_per_byte(bytes, shared),
                   .per_byte_in_a_row = curve.least_time_per_byte(bytes, shared - gap)};
  least.all = bytes * least.per_byte;
  least.in_a_row = bytes * least.per_byte_in_a_row - gap;
  if (problem.last == nullptr) return least;
  const Curve& last = *problem.last;
  least.one = std::min(least.one, last(0) - shared);
  least.all = std::min(least.all, bytes * last.least_time_per_byte(bytes, shared));
  least.in_a_row =
      std::min(least.in_a_row, bytes * last.least_time_per_byte(bytes, shared - gap) - gap);
  return least;
}

double lower_bound(const WholeProblem& problem) {
  // All groups count as if they came before the last one, which takes the least of any group.
  OverlapRates rates = problem.rates;
  rates.trigger += problem.least.one;
  rates.gap = 0;
  return LastStart(rates)(
      initial_state(problem.start, problem.produced), first_start(problem),
      {problem.first_more + problem.least.all, problem.first_more + problem.least.in_a_row});
}

double closer_bound(const WholeProblem& problem, double enough) {
  constexpr int kHalvings = 6;
  const LastStart last_start(problem.rates);
  const OverlapState initial = initial_state(problem.start, problem.produced);
  const double from = first_start(problem);
  const Curve& curve = last_curve(problem);
  const auto last = [&](double bytes) {
    return std::max(curve(bytes) - problem.shared, problem.least_last);
  };
  const auto before = [&](double bytes) {
    const double rest = problem.bytes - bytes;
    return last_start(initial, from,
                      {problem.first_more + problem.least.per_byte * rest,
                       problem.first_more + problem.least.per_byte_in_a_row * rest});
  };
  const double alone = curve(problem.bytes) - problem.shared + problem.first_more;
  const double one_group =
      initial.producer_end + problem.rates.trigger + std::max(alone, problem.least_last);
  double known = std::min(one_group, enough);
  const double least = least_sum(0, problem.bytes, kHalvings, known, last, before);
  return std::max(lower_bound(problem), std::min(one_group, least));
}

}  // namespace overlaptune
