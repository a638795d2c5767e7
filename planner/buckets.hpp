#pragma once
// Buckets of lengths: the search works on a few lengths instead of many.

#include <cstdint>
#include <span>
#include <vector>

#include "planner/rates.hpp"

namespace overlaptune {

struct Buckets {
  std::vector<Run> runs{};        ///< the median length of each bucket, with its count
  std::int64_t error_tokens = 0;  ///< sum of the distances of lengths to their bucket's length
};

/// The partition of the runs (longest first) into at most `most` buckets with the least
/// error: dynamic programming, in O(most * n log n) because the best cut moves one way only.
/// Runs whose count is 0 are left out.
[[nodiscard]] Buckets bucketed(std::span<const Run> runs, std::span<const int> counts, int most);

}  // namespace overlaptune
