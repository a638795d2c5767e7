#pragma once
// Search results as plans: GPUs assigned, times summed.

#include <span>

#include "planner/fill.hpp"
#include "planner/plan.hpp"

namespace overlaptune {

/// The plan with these micro-batches, each with its groups at their GPUs: the widest first, so that
/// every group begins at a multiple of its degree. `lower_bound_us` and `bucket_error` stay 0.
[[nodiscard]] BatchPlan plan_of(const Runs& runs, std::span<const Filled> micro_batches);

}  // namespace overlaptune
