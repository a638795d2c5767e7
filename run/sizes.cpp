#include "run/sizes.hpp"

#include "run/strategies.hpp"

namespace overlaptune::run {
namespace {

std::int64_t rows_of_a(const Problem& problem) {
  return problem.op == Op::all_gather_gemm ? problem.m / problem.ranks : problem.m;
}

}  // namespace

std::int64_t elements_of_a(const Problem& problem) {
  return rows_of_a(problem) * problem.k;
}
std::int64_t elements_of_b(const Problem& problem) {
  return problem.n * problem.k;
}
std::int64_t elements_of_c(const Problem& problem) {
  const bool scatter = problem.op == Op::gemm_reduce_scatter;
  return (scatter ? problem.m / problem.ranks : problem.m) * problem.n;
}

std::int64_t workspace_bytes(const Work& work) {
  return runner_of(work.strategy()).workspace_bytes(work);
}

std::int64_t most_workspace_bytes(const Problem& problem) {
  // Wave groups that NCCL moves need most: they are staged, and in all_to_all also received in the
  // workspace.
  const std::int64_t bytes = collective_bytes(problem).count;
  return collective_of(problem.op) == Collective::all_to_all ? 2 * bytes : bytes;
}

}  // namespace overlaptune::run
