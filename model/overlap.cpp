#include "model/overlap.hpp"

#include <algorithm>

namespace overlaptune {

Timeline overlap(double start, std::span<const Piece> pieces, const OverlapRates& rates) {
  Timeline timeline;
  timeline.groups.reserve(pieces.size());
  OverlapState state = initial_state(start);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool last = i + 1 == pieces.size();
    const Step step =
        (last ? finish : advance)(state, pieces[i].production, pieces[i].consumption, rates);
    state = step.state;
    timeline.groups.push_back({.group = static_cast<int>(i),
                               .ready = us(step.ready),
                               .start = us(step.start),
                               .end = us(step.state.consumer_end)});
    if (last) timeline.gemm_end = us(step.ready);
  }
  // Times beyond the producer's end were computed as if it went on. After that end the consumer
  // runs at full speed.
  const double producer_end = timeline.gemm_end.count();
  for (std::size_t i = 0; i + 1 < timeline.groups.size(); ++i) {
    auto corrected = [&](Microseconds t) {
      const double late = t.count() - producer_end;
      return late > 0 ? us(producer_end + late / rates.consumer_slowdown) : t;
    };
    timeline.groups[i].start = corrected(timeline.groups[i].start);
    timeline.groups[i].end = corrected(timeline.groups[i].end);
  }
  for (GroupTimes& group : timeline.groups) {
    group.exposed = std::max(us(0), group.end - std::max(group.start, timeline.gemm_end));
  }
  return timeline;
}

}  // namespace overlaptune
