#pragma once
// Plans with one degree for all groups, as one would set up by hand.

#include <optional>

#include "planning/sequences/plan.hpp"
#include "planning/sequences/search/runs.hpp"

namespace overlaptune {

/// Groups of one level, by the fastest of several rules (`simple_plan`). None: a sequence does not
/// fit, or the level is not allowed.
[[nodiscard]] std::optional<BatchPlan> plan_with_level(const Runs& runs, int level);

}  // namespace overlaptune
