#pragma once
// Validation: the configs of one problem are checked, and the correct ones are timed.

#include <functional>

#include "machine/controller/wire/messages.hpp"
#include "machine/worker/test_problem.hpp"

namespace overlaptune::cuda {

/// Makes each config ready and checks it. Then it times the correct ones in turn, together with the
/// plain GEMM and the plain collective. Error: as `make_plan` for the baseline.
[[nodiscard]] Expected<RunReply> validate(Workbench& bench, TestProblem& problem,
                                          const RunRequest& request,
                                          const std::function<void(const RunStep&)>& at);

}  // namespace overlaptune::cuda
