#pragma once
// Measuring the candidates of one problem, one after the other.

#include <vector>

#include "core/config/candidate.hpp"
#include "db/store.hpp"
#include "machine/machine.hpp"
#include "tuner/candidate_source.hpp"
#include "tuner/run_monitor.hpp"

namespace overlaptune {

/// The measured candidates of one problem.
struct JudgedProblem {
  /// First the proposed candidates that were measured, in their order; then those that the run
  /// measured earlier and that are no longer proposed.
  std::vector<Candidate> candidates{};
  int measured = 0;       ///< candidates measured now
  int resumed = 0;        ///< proposed candidates that were found in the database
  int failed = 0;         ///< candidates measured now that are not valid
  bool finished = false;  ///< every proposed candidate has a verdict
};

/// Runs each candidate beside the first one, which is `sequential`, and adds it to what was judged
/// before. Candidates that the run has in the database are not measured again. Each result is
/// stored before the next candidate is run. The function ends early once the monitor says stop,
/// once the problem has had its share of the budget and two candidates, and, with a warning, where
/// the problem does not fit the machine's memory. Error: the machine is lost.
[[nodiscard]] Expected<JudgedProblem> judge(Machine& machine, Store& store, TuningRunId run,
                                            CandidateSource& proposals, RunMonitor& monitor,
                                            JudgedProblem before = {});

}  // namespace overlaptune
