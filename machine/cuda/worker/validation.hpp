#pragma once
// Validation: configs of one problem are checked, and those that are right are timed.

#include <functional>

#include "machine/cuda/wire/messages.hpp"
#include "machine/cuda/worker/test_problem.hpp"

namespace overlaptune::cuda {

/// Each config is made ready and checked, then those that are right are timed in turn, together
/// with the plain GEMM and the plain collective. Error: as `make_plan` for the baseline.
[[nodiscard]] Expected<RunReply> validate(Workbench& bench, TestProblem& problem,
                                          const RunRequest& request,
                                          const std::function<void(const RunStep&)>& at);

}  // namespace overlaptune::cuda
