#pragma once
// Plans a batch: number of micro-batches, cut, group degrees, assignment.

#include <cstdint>
#include <span>

#include "planner/costs.hpp"
#include "planner/plan.hpp"
#include "planner/rates.hpp"

namespace overlaptune {

struct SolverOptions {
  int buckets = 16;  ///< lengths that the first plan of a micro-batch tells apart
};

/// The best plan found. Every length must be positive and fit into all GPUs together
/// (`Rates::least_level`), and there must be at least one.
[[nodiscard]] BatchPlan plan_batch(const Rates& rates, std::span<const std::int64_t> lengths,
                                   const SolverOptions& options = {});

}  // namespace overlaptune
