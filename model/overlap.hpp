#pragma once
// Two queues that run beside each other and slow each other: the GEMM and the collectives. One of
// them *produces* pieces (waves of tiles, chunks), the other *consumes* them in order. Times are
// microseconds.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/timeline.hpp"

namespace overlaptune {

struct OverlapRates {
  double producer_slowdown = 1;  ///< factor on the producer while the consumer runs, >= 1
  double consumer_slowdown = 1;  ///< factor on the consumer while the producer runs, >= 1
  double trigger = 0;            ///< from a piece's completion to the start of an idle consumer
  double gap = 0;                ///< between two pieces of a busy consumer
};

/// The state of both queues when a piece has just been produced. The consumer's end assumes that
/// the producer goes on; `finish` corrects it. `advance` and `finish` are non-decreasing in both
/// fields (a test checks it), so a state that is smaller in both stays ahead. This makes the
/// partition search exact.
struct OverlapState {
  /// Effective time of the producer: its next piece is ready at this time plus the slowed work, if
  /// it is slowed without interruption. It is less than the real time by the credit that `advance`
  /// gives.
  double producer = 0;
  double consumer_end = 0;  ///< end of everything handed to the consumer so far
};

struct Step {
  OverlapState state{};
  double ready = 0;  ///< time at which the piece is produced
  double start = 0;  ///< time at which the consumer starts on it
};

/// Produces one more piece and hands it to the consumer. `work` and `consumption` are its times on
/// either side, each alone.
[[nodiscard]] inline Step advance(const OverlapState& from, double work, double consumption,
                                  const OverlapRates& rates) {
  const double slowed = from.producer + work * rates.producer_slowdown;
  const double ready = slowed <= from.consumer_end
                           ? slowed
                           : from.consumer_end + work -
                                 (from.consumer_end - from.producer) / rates.producer_slowdown;
  Step step;
  step.ready = ready;
  const double idle_start = ready + rates.trigger;
  const double busy_start = from.consumer_end + rates.gap;
  step.start = idle_start > busy_start ? idle_start : busy_start;
  // Until an idle consumer is triggered, the producer runs free. That time is credited at once, so
  // a next piece of less work than that time is ready too early. The credit is at most that time:
  // with more, a state that is ready later would be ahead.
  double free = idle_start - (ready > from.consumer_end ? ready : from.consumer_end);
  if (free < 0) free = 0;
  const double gain = rates.producer_slowdown - 1;
  step.state.producer = ready - (gain < 1 ? gain : 1) * free;
  step.state.consumer_end = step.start + consumption * rates.consumer_slowdown;
  return step;
}

/// As `advance`, for the last piece: after it the consumer runs alone. `consumer_end` of the result
/// is the end of all.
[[nodiscard]] inline Step finish(const OverlapState& from, double work, double consumption,
                                 const OverlapRates& rates) {
  Step step = advance(from, work, 0, rates);
  double consumer_free = from.consumer_end;
  if (consumer_free > step.ready) {
    consumer_free = step.ready + (consumer_free - step.ready) / rates.consumer_slowdown;
  }
  const double idle_start = step.ready + rates.trigger;
  const double busy_start = consumer_free + rates.gap;
  step.start = idle_start > busy_start ? idle_start : busy_start;
  step.state.consumer_end = step.start + consumption;
  return step;
}

/// The state before anything is produced, when the producer starts at `start`.
[[nodiscard]] inline OverlapState initial_state(double start) {
  return {.producer = start, .consumer_end = start};
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
