#include "model/overlap.hpp"

#include <algorithm>
#include <vector>

namespace overlaptune {
namespace {

/// Says when the producer has done some amount of work. The amounts are asked for in ascending
/// order.
class Production {
 public:
  Production(double start, double slowdown) : slowdown_(slowdown), lag_(start) {}

  /// `runs` are the consumer's runs that are known so far. The work is done before any later run,
  /// or while the last of these goes on.
  double time_of(double work, std::span<const Step> runs) {
    // Runs that have ended by then have slowed the producer all the time.
    while (next_ < runs.size() && beside(work, runs[next_]) > runs[next_].both) {
      lag_ += runs[next_].both * (1 - 1 / slowdown_);
      ++next_;
    }
    const double slowed = next_ < runs.size() ? std::max(0.0, beside(work, runs[next_])) : 0;
    return lag_ + work + slowed * (1 - 1 / slowdown_);
  }

 private:
  /// Time that the producer needs from the start of the run, slowed by it.
  [[nodiscard]] double beside(double work, const Step& run) const {
    return (lag_ + work - run.start) * slowdown_;
  }

  double slowdown_;
  double lag_;  ///< behind a producer that starts at 0 and is not slowed, before the next run
  std::size_t next_ = 0;
};

}  // namespace

Timeline overlap(double start, std::span<const Piece> pieces, const OverlapRates& rates) {
  double all = 0;
  for (const Piece& piece : pieces) all += piece.production;
  std::vector<Step> runs;
  runs.reserve(pieces.size());
  Timeline timeline;
  timeline.groups.reserve(pieces.size());
  Production production(start, rates.producer_slowdown);
  OverlapState state = initial_state(start, all);
  double produced = 0;
  for (const Piece& piece : pieces) {
    produced += piece.production;
    const double ready = production.time_of(produced, runs);
    runs.push_back(advance(state, all - produced, piece.consumption, rates));
    state = runs.back().state;
    timeline.groups.push_back({.group = static_cast<int>(timeline.groups.size()),
                               .ready = us(ready),
                               .start = us(runs.back().start),
                               .end = us(state.consumer_end)});
    timeline.gemm_end = us(ready);
  }
  for (GroupTimes& group : timeline.groups) {
    group.exposed = std::max(us(0), group.end - std::max(group.start, timeline.gemm_end));
  }
  return timeline;
}

}  // namespace overlaptune
