#pragma once
// `peer_store`: one generated GEMM on all SMs, which stores each tile at the rank that owns it
// (strategies/peer_store/store_order.hpp, strategies/peer_store/at_ranks.cuh). There is a gate in
// front of it, and no collective.

#include "run/strategy_runner.hpp"

namespace overlaptune::run {

template <>
struct RunnerOf<PeerStore> {
  [[nodiscard]] static Expected<std::unique_ptr<Plan>> make(const Request& request);
  [[nodiscard]] static std::int64_t workspace_bytes(const Work& work);
  [[nodiscard]] static std::int64_t most_workspace_bytes(const Problem& problem);
};

}  // namespace overlaptune::run
