#pragma once
// How to cut a GEMM that stores tiles at the ranks that own them into groups.

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "strategies/peer_store/model_step.hpp"

namespace overlaptune {

/// Time of a partition whose groups end at these cuts (ascending, the last one is the last cut).
[[nodiscard]] double store_time(const StoreProblem& problem, std::span<const std::size_t> ends);

struct StorePartition {
  double time = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> ends{};
};

/// The best of the partitions into groups of 1, 2, 4, ... waves, or nearly so. A
/// limit: partitions that take as long are not wanted; then `ends` is empty.
[[nodiscard]] StorePartition best_equal_stores(const StoreProblem& problem, double limit);

/// The partition of least `store_time`: dynamic programming over the cuts, with all states of which
/// no number is smaller than that of another one left out, exact. A limit as above. Of partitions
/// that take equally long the first of `best_equal_stores` is taken.
[[nodiscard]] StorePartition best_stores(const StoreProblem& problem, double limit);

}  // namespace overlaptune
