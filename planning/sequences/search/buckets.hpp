#pragma once
// Buckets of lengths: the search works on a few lengths instead of many.

#include <cstdint>
#include <span>
#include <vector>

#include "planning/sequences/search/runs.hpp"

namespace overlaptune {

struct Buckets {
  std::vector<Run> runs{};        ///< the longest length of each bucket, with the bucket's count
  std::int64_t added_tokens = 0;  ///< by rounding every length up to its bucket's longest
};

/// The partition of runs (longest first) into at most `most` buckets that adds the fewest tokens,
/// by dynamic programming (FlexSP, section 4.3); O(most n log n), because the best cut only moves
/// one way. Runs whose count is 0 are left out.
[[nodiscard]] Buckets bucketed(std::span<const Run> runs, int most);

/// Cuts the sorted sequences into `parts` of about as many tokens each, and buckets every part.
[[nodiscard]] Buckets cut_and_bucketed(std::span<const Run> runs, int parts, int most);

}  // namespace overlaptune
