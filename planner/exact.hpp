#pragma once
// Branch and bound over group degrees and assignment of one small micro-batch.

#include <span>

#include "planner/pack.hpp"

namespace overlaptune {

/// Looks for a faster micro-batch than `best`, and replaces it. Visits at most `nodes` nodes.
/// Returns whether the search was exhausted: `best` is then optimal within 0.01 %.
bool branch_and_bound(const Rates& rates, std::span<const Run> runs, std::span<const int> counts,
                      long nodes, Filled& best);

}  // namespace overlaptune
