#pragma once
// `waiting`: one generated GEMM, which begins with this rank's own rows of A. Beside its tiles this
// rank's rows are sent to its peers, piece by piece. Before the GEMM loads the first rows of a wave
// group it polls the group's signal.

#include "run/strategy_runner.hpp"

namespace overlaptune::run {

template <>
struct RunnerOf<Waiting> {
  [[nodiscard]] static Expected<std::unique_ptr<Plan>> make(const Request& request);
  [[nodiscard]] static std::int64_t workspace_bytes(const Work& work) {
    return most_workspace_bytes(work.problem());
  }
  [[nodiscard]] static std::int64_t most_workspace_bytes(const Problem& problem);
};

}  // namespace overlaptune::run
