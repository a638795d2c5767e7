#pragma once
// Runs a GEMM that stores its tiles at the ranks that own them (`peer_store`), on all ranks. Times
// are microseconds from the start of the kernel.

#include <vector>

#include "core/timeline.hpp"
#include "strategies/peer_store/sim_rank.hpp"

namespace overlaptune::sim {

struct StoreRun {
  std::vector<double> rank_ends{};
  Timeline timeline{};
};

/// Every rank is run, or, where there are many tiles, one that stands for all.
[[nodiscard]] StoreRun run_stores(const StorePlan& plan, const StoreVariation& variation);

}  // namespace overlaptune::sim
