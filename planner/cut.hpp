#pragma once
// Where the sorted sequences are cut into micro-batches.

#include <optional>
#include <span>
#include <vector>

#include "planner/rates.hpp"

namespace overlaptune {

/// How many sequences of each run one micro-batch has.
using Counts = std::vector<int>;

/// The cut of the runs (longest first) into `parts` micro-batches with the least sum of
/// `micro_batch_bound`, none with more tokens than the memory holds: dynamic programming over at
/// most 256 places. None: there is no such cut.
[[nodiscard]] std::optional<std::vector<Counts>> best_cut(const Rates& rates,
                                                          std::span<const Run> runs, int parts);

}  // namespace overlaptune
