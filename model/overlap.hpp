#pragma once
// Two queues that run beside each other and slow each other: the GEMM and the collectives. One of
// them *produces* pieces (waves of tiles, chunks), the other *consumes* them in order. Times are
// microseconds.

#include <algorithm>
#include <limits>
#include <span>

#include "core/timeline.hpp"

namespace overlaptune {

struct OverlapRates {
  double producer_slowdown = 1;  ///< factor on the producer while the consumer runs, >= 1
  double consumer_slowdown = 1;  ///< factor on the consumer while the producer runs, >= 1
  double trigger = 0;            ///< from a piece's completion to the start of an idle consumer
  /// Between two pieces of a busy consumer. Where it is shorter than the trigger, a trigger may
  /// pass while the consumer runs; it is slowed then as the producer is.
  double gap = 0;
};

/// The state of both queues when the consumer has just ended a piece. Neither slows the other until
/// the consumer starts the next one.
struct OverlapState {
  double consumer_end = 0;
  /// End of the producer, if the consumer does not run again before it. Once the producer has
  /// ended, it is the latest end that makes no difference.
  double producer_end = 0;
};

struct Step {
  OverlapState state{};
  double start = 0;  ///< time at which the consumer starts on the piece
  double both = 0;   ///< time for which both run, from then
};

/// Hands the next piece to the consumer. `after` is the production of all later pieces, and
/// `consumption` the time of this piece on the consumer, each alone.
[[nodiscard]] inline Step advance(const OverlapState& from, double after, double consumption,
                                  const OverlapRates& rates) {
  Step step;
  step.start = std::max(from.producer_end - after + rates.trigger, from.consumer_end + rates.gap);
  const double left = std::max(0.0, from.producer_end - step.start);  // of the producer, alone
  step.both = std::min(left * rates.producer_slowdown, consumption * rates.consumer_slowdown);
  const double end = step.start + consumption + step.both * (1 - 1 / rates.consumer_slowdown);
  const double producer_end = from.producer_end + step.both * (1 - 1 / rates.producer_slowdown);
  step.state = {
      .consumer_end = end,
      .producer_end = std::max(producer_end, end + std::min(0.0, rates.gap - rates.trigger))};
  return step;
}

/// Tells which states are ahead: a state is ahead of another one if its `consumer_end` is no later
/// and its handicap no larger. Whatever pieces follow, it then stays ahead (a test checks it). This
/// makes the partition search exact. Where the gap is shorter than the trigger, the lead may turn
/// into a delay of at most the difference, because a consumer that starts earlier also slows the
/// producer earlier, and then waits for its end.
///
/// The handicap is the producer's end. The exception is two queues that take longer beside each
/// other than in turn. There a consumer that starts earlier may end later, because more of it runs
/// beside the producer, unless the producer's end is earlier by a share of what it is earlier.
class Handicap {
 public:
  explicit Handicap(const OverlapRates& rates) {
    const double harm = rates.producer_slowdown * (1 - 1 / rates.consumer_slowdown);
    if (harm > 1) share_ = 1 - 1 / harm;
  }
  [[nodiscard]] double operator()(const OverlapState& state) const {
    return state.producer_end - share_ * state.consumer_end;
  }
  [[nodiscard]] bool is_producer_end() const { return share_ == 0; }

 private:
  double share_ = 0;
};

/// The state before anything is produced, when the producer starts at `start` and produces for
/// `all`.
[[nodiscard]] inline OverlapState initial_state(double start, double all) {
  return {.consumer_end = -std::numeric_limits<double>::infinity(), .producer_end = start + all};
}

/// One piece: its time on the producer and on the consumer, each alone.
struct Piece {
  double production = 0;
  double consumption = 0;
};

/// The timeline of all pieces. `exposed` is the time of the consumer after the producer's end.
[[nodiscard]] Timeline overlap(double start, std::span<const Piece> pieces,
                               const OverlapRates& rates);

}  // namespace overlaptune
