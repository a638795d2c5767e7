#pragma once
// Whether ranks share a GPU. NCCL lets them where each has an NCCL_HOSTID of its own.

#include "run/world.hpp"

namespace overlaptune::run {

/// The largest number of ranks that have the same GPU; 1 where each has its own. Collective.
[[nodiscard]] int most_ranks_on_a_gpu(World& world);

}  // namespace overlaptune::run
