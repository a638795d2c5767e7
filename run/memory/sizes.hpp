#pragma once
// Sizes of the memory that a plan works on, on one rank.

#include <cstdint>

#include "core/config/work.hpp"

namespace overlaptune::run {

/// Elements of each operand.
[[nodiscard]] inline std::int64_t elements_of_a(const Problem& problem) {
  return rows_of_a(problem) * problem.k;
}
[[nodiscard]] inline std::int64_t elements_of_b(const Problem& problem) {
  return problem.n * problem.k;
}
[[nodiscard]] inline std::int64_t elements_of_c(const Problem& problem) {
  return rows_of_c(problem) * problem.n;
}

/// Bytes of each operand.
[[nodiscard]] inline std::int64_t bytes_of_a(const Problem& problem) {
  return elements_of_a(problem) * operand_bytes(problem.elements);
}
[[nodiscard]] inline std::int64_t bytes_of_b(const Problem& problem) {
  return elements_of_b(problem) * operand_bytes(problem.elements);
}
[[nodiscard]] inline std::int64_t bytes_of_c(const Problem& problem) {
  return elements_of_c(problem) * result_bytes(problem.elements);
}

/// Bytes of the scales; 0 where there are none.
[[nodiscard]] inline std::int64_t bytes_of_a_scales(const Problem& problem) {
  return scale_count(problem.elements, rows_of_a(problem)) *
         static_cast<std::int64_t>(sizeof(float));
}
[[nodiscard]] inline std::int64_t bytes_of_b_scales(const Problem& problem) {
  return scale_count(problem.elements, problem.n) * static_cast<std::int64_t>(sizeof(float));
}

[[nodiscard]] std::int64_t workspace_bytes(const Work& work);
/// Bytes of workspace that are enough for any config of the problem.
[[nodiscard]] std::int64_t most_workspace_bytes(const Problem& problem);

}  // namespace overlaptune::run
