#include "run/sizes.hpp"

#include <algorithm>

#include "run/strategies.hpp"

namespace overlaptune::run {
std::int64_t elements_of_a(const Problem& problem) {
  return rows_of_a(problem) * problem.k;
}
std::int64_t elements_of_b(const Problem& problem) {
  return problem.n * problem.k;
}
std::int64_t elements_of_c(const Problem& problem) {
  return rows_of_c(problem) * problem.n;
}

std::int64_t bytes_of_a(const Problem& problem) {
  return elements_of_a(problem) * operand_bytes(problem.elements);
}

std::int64_t bytes_of_b(const Problem& problem) {
  return elements_of_b(problem) * operand_bytes(problem.elements);
}

std::int64_t bytes_of_c(const Problem& problem) {
  return elements_of_c(problem) * result_bytes(problem.elements);
}

std::int64_t workspace_bytes(const Work& work) {
  return runner_of(work.strategy()).workspace_bytes(work);
}

std::int64_t most_workspace_bytes(const Problem& problem) {
  // Wave groups that NCCL moves are staged, and in all_to_all also received in the workspace. Slots
  // of whole tiles may take more.
  const std::int64_t bytes = collective_bytes(problem).count;
  const bool twice = collective_of(problem.op) == Collective::all_to_all;
  return std::max(twice ? 2 * bytes : bytes, most_workspace_of_stores(problem));
}

}  // namespace overlaptune::run
