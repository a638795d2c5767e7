#pragma once
// The best groups of one micro-batch, by branch and bound.

#include "planning/sequences/search/fill.hpp"

namespace overlaptune {

/// Replaces `best` by the fastest micro-batch for these sequences if that is faster (`best` may
/// have no groups). Gives up after `nodes` nodes. Returns whether the result is optimal (to 1e-4).
bool branch_and_bound(const Runs& runs, std::span<const int> counts, long nodes, Filled& best);

}  // namespace overlaptune
