#pragma once
// Plans with one degree for all groups, as one would set up by hand.

#include <optional>

#include "planner/plan.hpp"
#include "planner/runs.hpp"

namespace overlaptune {

/// Groups of one level. Sequences are packed into as few groups as the memory allows (best fit
/// decreasing), or spread evenly over the groups of as many micro-batches, whichever is faster. The
/// groups with the most work run together. None: a sequence does not fit.
[[nodiscard]] std::optional<BatchPlan> plan_with_level(const Runs& runs, int level);

}  // namespace overlaptune
