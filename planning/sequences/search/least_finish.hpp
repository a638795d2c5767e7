#pragma once
// The simple planner: longest first, least finish.

#include <vector>

#include "planning/sequences/search/fill.hpp"

namespace overlaptune {

/// Micro-batches that are filled side by side: each sequence, longest first, goes where it ends
/// soonest, into an open group or a new one (after Graham 1969). A new group has any degree that
/// GPUs are left for or, with `narrow`, the least that holds the sequence. Empty: a sequence fits
/// nowhere.
[[nodiscard]] std::vector<Filled> least_finish(const Runs& runs, int micro_batches, bool narrow);

}  // namespace overlaptune
