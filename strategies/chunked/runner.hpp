#pragma once
// `chunked`: the rows of every row block are cut into nearly equal parts. GEMMs with an SM budget
// run on the caller's stream; the collectives run in the same order on a stream of their own.

#include "run/exchange/pieces.hpp"
#include "run/strategy_runner.hpp"

namespace overlaptune::run {

template <>
struct RunnerOf<Chunked> {
  [[nodiscard]] static Expected<std::unique_ptr<Plan>> make(const Request& request);
  [[nodiscard]] static std::int64_t workspace_bytes(const Work& work) {
    return most_workspace_bytes(work.problem());
  }
  [[nodiscard]] static std::int64_t most_workspace_bytes(const Problem& problem) {
    return bytes_of_pieces(problem);
  }
};

}  // namespace overlaptune::run
