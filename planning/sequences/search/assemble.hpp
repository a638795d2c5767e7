#pragma once
// Search results as plans: GPUs assigned, times summed.

#include <span>

#include "planning/sequences/plan.hpp"
#include "planning/sequences/search/fill.hpp"

namespace overlaptune {

/// The plan with these micro-batches, each with its groups at their GPUs: the widest first, so that
/// every group begins at a multiple of its degree. `lower_bound_us` and `bucket_error` stay 0.
/// `members` stay empty.
[[nodiscard]] BatchPlan plan_of(const Runs& runs, std::span<const Filled> micro_batches);

/// Fills the `members` of all groups of a plan for these lengths; equal ones in their order.
void find_members(BatchPlan& plan, std::span<const std::int64_t> lengths);

}  // namespace overlaptune
