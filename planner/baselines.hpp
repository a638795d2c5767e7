#pragma once
// Plans with one degree for all groups, as one would set up by hand.

#include <cstdint>
#include <optional>
#include <span>

#include "planner/plan.hpp"
#include "planner/rates.hpp"

namespace overlaptune {

/// Groups of one level: sequences are packed into as few groups as the memory allows (best fit
/// decreasing), the groups run in micro-batches of as many as there are
/// GPUs for, those with the most work together. None: a sequence does not fit.
[[nodiscard]] std::optional<BatchPlan> plan_with_level(const Rates& rates,
                                                       std::span<const std::int64_t> lengths,
                                                       int level);

/// The same, or faster where spreading the sequences evenly by time over the groups is.
[[nodiscard]] std::optional<BatchPlan> balanced_with_level(const Rates& rates,
                                                           std::span<const std::int64_t> lengths,
                                                           int level);

}  // namespace overlaptune
