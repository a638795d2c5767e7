#include "run/memory/sizes.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "core/config/strategies.hpp"
#include "strategies/runners.hpp"

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

std::int64_t bytes_of_a_scales(const Problem& problem) {
  return scale_count(problem.elements, rows_of_a(problem)) *
         static_cast<std::int64_t>(sizeof(float));
}

std::int64_t bytes_of_b_scales(const Problem& problem) {
  return scale_count(problem.elements, problem.n) * static_cast<std::int64_t>(sizeof(float));
}

std::int64_t workspace_bytes(const Work& work) {
  const auto by_strategy = [&]<class Own>(const Own& /*config*/) -> std::int64_t {
    if constexpr (requires { RunnerOf<Own>::workspace_bytes(work); }) {
      return RunnerOf<Own>::workspace_bytes(work);
    }
    return RunnerOf<Own>::most_workspace_bytes(work.problem());
  };
  return std::visit(by_strategy, work.config());
}

std::int64_t most_workspace_bytes(const Problem& problem) {
  const auto most = each_strategy([&]<class Own>(std::type_identity<Own>) -> std::int64_t {
    const bool runs = TraitsOf<Own>::row.ops.contains(problem.op);
    return runs ? RunnerOf<Own>::most_workspace_bytes(problem) : 0;
  });
  return *std::max_element(most.begin(), most.end());
}

}  // namespace overlaptune::run
