#pragma once
// Plans a batch: number of micro-batches, cut, group degrees, assignment.

#include <cstdint>
#include <span>

#include "planning/sequences/plan.hpp"
#include "planning/sequences/rates.hpp"

namespace overlaptune {

/// The best plan found, never slower than a plan of one degree (`plan_with_level`). Every length
/// must be positive and fit into a group of the widest degree, and there must be at least one. No
/// micro-batches: too few sequences for a multiple of `Limits::micro_batches`.
[[nodiscard]] BatchPlan plan_batch(const Rates& rates, std::span<const std::int64_t> lengths);

}  // namespace overlaptune
