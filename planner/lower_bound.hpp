#pragma once
// Times that no plan can beat.

#include <span>
#include <vector>

#include "planner/rates.hpp"

namespace overlaptune {

/// Least GPU time (degree times time) of a sequence on any level that can hold it.
[[nodiscard]] double least_area(const Rates& rates, std::int64_t length);
/// Least time of a sequence on any level that can hold it, with the fixed part.
[[nodiscard]] double least_time(const Rates& rates, std::int64_t length);

/// A bound for one micro-batch of these sequences: their GPU time spread over all GPUs, and the
/// longest sequence alone.
[[nodiscard]] double micro_batch_bound(const Rates& rates, std::span<const Run> runs,
                                       std::span<const int> counts);

/// Fewest micro-batches that the memory allows.
[[nodiscard]] int fewest_micro_batches(const Rates& rates, std::span<const Run> runs);

/// A bound for the whole batch, whatever the number of micro-batches.
[[nodiscard]] double batch_bound(const Rates& rates, std::span<const Run> runs);

}  // namespace overlaptune
