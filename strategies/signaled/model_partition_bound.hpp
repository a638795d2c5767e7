#pragma once
// Lower bounds on the time of any partition, with which searches leave out what cannot win. Times
// are microseconds.

#include <algorithm>
#include <cstddef>
#include <optional>

#include "model/curve.hpp"
#include "model/overlap.hpp"

namespace overlaptune {

/// The least that some groups take on the consumer alone.
struct Rest {
  double consumption = 0;  ///< sum of their times
  double in_a_row = 0;     ///< the same, with a gap after each
};

/// A lower bound on the start of the last group after a state. For some time both queues run. The
/// longer that is, the later the producer ends, and the less remains to be consumed then. The bound
/// is the least, over all such times, of what comes last:
/// - a trigger after the producer's end;
/// - all groups before the last one in a row, slowed for that time;
/// - after the producer's end, all that was not consumed before it.
/// It is non-decreasing in the state and in what remains.
class LastStart {
 public:
  explicit LastStart(const OverlapRates& rates)
      : trigger_(rates.trigger),
        wait_(std::min(rates.trigger, rates.gap)),
        producer_slowdown_(rates.producer_slowdown),
        consumer_slowdown_(rates.consumer_slowdown),
        producer_loss_(1 - 1 / rates.producer_slowdown),
        consumer_loss_(1 - 1 / rates.consumer_slowdown),
        gain_(std::max(0.0, 1 - producer_loss_ - consumer_loss_)) {}

  /// `rest`: the groups before the last one, at least one. The consumer does not start on them
  /// before `from`.
  [[nodiscard]] double operator()(const OverlapState& state, double from, const Rest& rest) const {
    const double alone = state.producer_end;
    const double triggered = alone + trigger_;
    const double in_a_row = from + rest.in_a_row;
    const double in_turn = std::max(alone, from) + rest.consumption + wait_;
    if (gain_ == 0) return std::max({triggered, in_a_row, in_turn});
    const double longest = std::min(std::max(0.0, alone - from) * producer_slowdown_,
                                    rest.consumption * consumer_slowdown_);
    // A start that grows with the time of both meets the one that falls with it: growth and fall
    // together are 1 / slowdown of the other side.
    const auto least = [&](double start, double growth, double per_growth) {
      const double both = std::clamp((in_turn - start) * per_growth, 0.0, longest);
      return std::max(start + growth * both, in_turn - gain_ * both);
    };
    return std::max(least(triggered, producer_loss_, consumer_slowdown_),
                    least(in_a_row, consumer_loss_, producer_slowdown_));
  }

 private:
  double trigger_;
  double wait_;  ///< the least between the producer, or the last group but one, and the last group
  double producer_slowdown_;
  double consumer_slowdown_;
  double producer_loss_;  ///< what the producer loses in a unit of time beside the consumer
  double consumer_loss_;  ///< the same of the consumer
  double gain_;           ///< what both do in a unit of time, beyond what one does alone
};

/// An i from `low` to `high` for which `last(i) + before(i)` is under `limit`; none if there is
/// none. `last` does not grow with i, and `before` does not fall, so a whole range of i is excluded
/// at once.
template <class Last, class Before>
[[nodiscard]] std::optional<std::size_t> find_under(double limit, std::size_t low, std::size_t high,
                                                    const Last& last, const Before& before) {
  if (last(high) + before(low) >= limit) return std::nullopt;
  if (low == high) return low;
  const std::size_t middle = low + (high - low) / 2;
  const auto found = find_under(limit, low, middle, last, before);
  return found ? found : find_under(limit, middle + 1, high, last, before);
}

/// The least that groups take on the consumer alone, however the whole is divided.
struct LeastTimes {
  double one = 0;       ///< any group
  double all = 0;       ///< all groups together
  double in_a_row = 0;  ///< all groups with the gaps between them
  // For each byte of the groups before the last one:
  double per_byte = 0;
  double per_byte_in_a_row = 0;  ///< with a gap after each group
};

/// The part of a partition problem that is known before its cuts. Members as in `PartitionProblem`.
struct WholeProblem {
  double start = 0;
  double first = 0;     ///< production of the first wave, before which nothing is consumed
  double produced = 0;  ///< production of everything
  double bytes = 0;     ///< of all groups
  const Curve* collective = nullptr;
  const Curve* last = nullptr;
  double least_last = 0;
  double shared = 0;
  double first_more = 0;
  LeastTimes least{};
  OverlapRates rates{};
};

/// The least times that follow from the other members.
[[nodiscard]] LeastTimes least_times(const WholeProblem& problem);

/// A lower bound on the time of any partition, without a look at the curves.
[[nodiscard]] double lower_bound(const WholeProblem& problem);

/// A closer one, which knows that the last group begins when the GEMM has ended, and that only it
/// may take the curve `last`. A bound of at least `enough` is not made closer still.
[[nodiscard]] double closer_bound(const WholeProblem& problem, double enough);

}  // namespace overlaptune
