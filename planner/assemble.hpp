#pragma once
// Search results as plans: GPUs assigned, times summed.

#include <span>

#include "planner/pack.hpp"
#include "planner/plan.hpp"

namespace overlaptune {

/// The groups with their sequences, each at its GPUs: the widest first, so that every group begins
/// at a multiple of its degree.
[[nodiscard]] MicroBatch micro_batch_of(const Rates& rates, std::span<const Run> runs,
                                        const Filled& filled);

/// Sums `time_us`, `exchange_us` and `tokens` of the plan from its micro-batches.
void add_up(const Rates& rates, BatchPlan& plan);

}  // namespace overlaptune
