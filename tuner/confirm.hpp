#pragma once
// A winner run once more: longer, and to see what the GPUs do meanwhile.

#include <vector>

#include "core/activity.hpp"
#include "core/candidate.hpp"
#include "machine/machine.hpp"

namespace overlaptune {

struct Confirmed {
  Candidate candidate{};  ///< with verdict, measured time, speedup and conditions of this run
  /// What the GPUs were seen doing in one repetition; where the machine tells its timeline only,
  /// that of the slowest rank. Empty: the machine does not tell, or was not asked.
  std::vector<Activity> activities{};
};

/// Runs a candidate beside `sequential`, spread over about a second. `traced`: asks what the GPUs
/// do.
/// Error: the machine is lost.
[[nodiscard]] Expected<Confirmed> confirm(Machine& machine, const Candidate& winner,
                                          const Candidate& sequential, bool traced);

}  // namespace overlaptune
