#pragma once
// The choice of the way by which the ranks of a world reach one another's memory.

#include <memory>

#include "run/memory/peer_memory.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// Collective: the caller's memory where it gives some, NCCL's windows where they serve on all
/// ranks, else CUDA IPC.
[[nodiscard]] std::unique_ptr<PeerMemory> chosen_peer_memory(World& world);

/// Collective: the largest number of ranks that have the same GPU; 1 where each has its own. NCCL
/// lets ranks share one where each has an NCCL_HOSTID of its own.
[[nodiscard]] int most_ranks_on_a_gpu(World& world);

/// Collective: whether NCCL takes the ranks for those of one host (core/nodes.hpp). Ranks that
/// share a GPU are not, by `variables_of_sharing_rank`.
[[nodiscard]] bool are_on_one_node(World& world);

/// The reason why NCCL's windows do not give this rank its peers' addresses, as one sentence
/// without a full stop; empty where they may. Where GPUs are not in one NVLink domain, only a
/// window tells.
[[nodiscard]] std::string reason_against_windows();

}  // namespace overlaptune::run
