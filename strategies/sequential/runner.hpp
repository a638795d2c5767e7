#pragma once
// `sequential`: the library GEMM on all SMs, and one collective after it, or before it where the op
// exchanges first.

#include "run/exchange/pieces.hpp"
#include "run/strategy_runner.hpp"

namespace overlaptune::run {

template <>
struct RunnerOf<Sequential> {
  [[nodiscard]] static Expected<std::unique_ptr<Plan>> make(const Request& request);
  [[nodiscard]] static std::int64_t workspace_bytes(const Work& work) {
    return most_workspace_bytes(work.problem());
  }
  [[nodiscard]] static std::int64_t most_workspace_bytes(const Problem& problem) {
    return bytes_of_pieces(problem);
  }
};

}  // namespace overlaptune::run
