#pragma once
// Checks and times configs of one problem.

#include <functional>

#include "machine/cuda/messages.hpp"
#include "machine/cuda/worker/trial.hpp"

namespace overlaptune::cuda {

/// Each config is made ready and checked, then those that are right are timed in turn, together
/// with the plain GEMM and the plain collective. Error: as `make_plan` for the baseline.
[[nodiscard]] Expected<RunReply> contest(Workbench& bench, Trial& trial, const RunRequest& request,
                                         const std::function<void(const RunStep&)>& at);

}  // namespace overlaptune::cuda
