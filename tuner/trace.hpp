#pragma once
// A winner run once more, to see what the GPUs do meanwhile.

#include <vector>

#include "core/activity.hpp"
#include "core/candidate.hpp"
#include "machine/machine.hpp"

namespace overlaptune {

/// What the GPUs were seen doing in one repetition; where the machine tells its timeline only, that
/// of the slowest rank. Empty: the machine does not tell. What is predicted of the candidate tells
/// the machine when to give up waiting.
/// Error: the machine cannot run it now, or it is not valid this time, with the reason.
[[nodiscard]] Expected<std::vector<Activity>> trace(Machine& machine, const Candidate& candidate);

}  // namespace overlaptune
