#pragma once
// Whose rows make up a result: the reference of a problem is computed from them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problem.hpp"

namespace overlaptune::cuda {

/// Rows of one rank's A. Their products with the B of `owner_of_b` are checked rows of a result, or
/// parts of their sums.
struct RowSource {
  int rank = 0;
  int owner_of_b = 0;
  std::size_t first = 0;  ///< index of the first of these checked rows
  std::vector<std::int64_t> rows{};
};

/// The sources of rank `me`'s result. `checked`: rows of it, in ascending order.
[[nodiscard]] std::vector<RowSource> row_sources(const Problem& problem, int me,
                                                 const std::vector<std::int64_t>& checked);

}  // namespace overlaptune::cuda
