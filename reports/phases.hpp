#pragma once
// Results of the phases of second runs.

#include <map>
#include <tuple>

#include "reports/snapshot.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// The results of winners by phase. Refers to the snapshot.
class WinnerPhases {
 public:
  explicit WinnerPhases(const Snapshot& snapshot);
  /// The result in the run of the winner; null where it has not run in this phase.
  [[nodiscard]] const PhaseResult* of(const StoredWinner& winner, RunPhase phase) const;
  /// The median speedup over `sequential` in a phase; none likewise, or where it has none.
  [[nodiscard]] std::optional<double> speedup(const StoredWinner& winner, RunPhase phase) const;

 private:
  using Key = std::tuple<TuningRunId, Problem, Launch, Config, RunPhase>;
  std::map<Key, const PhaseResult*> results_{};
};

/// Every result of every phase, with the interval of its speedup.
[[nodiscard]] Table phases(const Snapshot& snapshot);

/// `phase, verdict, measured_us, sequential_us, speedup, speedup_low, speedup_high` of each phase
/// of a winner, in their order.
[[nodiscard]] OrderedJson json_of(const WinnerPhases& phases, const StoredWinner& winner);

}  // namespace overlaptune
