#pragma once
// Sizes of the memory that a plan works on, on one rank.

#include <cstdint>

#include "core/config/work.hpp"

namespace overlaptune::run {

/// Elements of each operand.
[[nodiscard]] std::int64_t elements_of_a(const Problem& problem);
[[nodiscard]] std::int64_t elements_of_b(const Problem& problem);
[[nodiscard]] std::int64_t elements_of_c(const Problem& problem);

/// Bytes of each operand.
[[nodiscard]] std::int64_t bytes_of_a(const Problem& problem);
[[nodiscard]] std::int64_t bytes_of_b(const Problem& problem);
[[nodiscard]] std::int64_t bytes_of_c(const Problem& problem);
/// Bytes of the scales; 0 where there are none.
[[nodiscard]] std::int64_t bytes_of_a_scales(const Problem& problem);
[[nodiscard]] std::int64_t bytes_of_b_scales(const Problem& problem);

[[nodiscard]] std::int64_t workspace_bytes(const Work& work);
/// Bytes of workspace that are enough for any config of the problem.
[[nodiscard]] std::int64_t most_workspace_bytes(const Problem& problem);

}  // namespace overlaptune::run
