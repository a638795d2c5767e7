#pragma once
// Ranks of several nodes, emulated on one host: each node has an NCCL_HOSTID of its own, and NCCL
// joins them by sockets.

#include "tests/gpu/plan_check/bench.hpp"
#include "tests/gpu/plan_check/results.hpp"

namespace overlaptune::plan_check {

/// Whether a config needs the memory of all peers, which ranks of other nodes do not reach.
[[nodiscard]] bool needs_peers(const Config& config);

/// Checks that the platform tells the nodes, and that plans which need peers' memory are refused
/// with the reason. Call it after `check_all_cases`, which reserves the memory. Collective.
void check_nodes(Bench& bench, Results& results);

}  // namespace overlaptune::plan_check
