#pragma once
// Collectives by CTAs of ours on the peers' memory, instead of NCCL's.

#include <cstdint>
#include <span>

#include "kernels/peer_exchange.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// What a GEMM counts its tiles with, for all ranks to see (in `World::memory` of this one).
/// `key.peers`, made ready.
[[nodiscard]] std::uint32_t* peer_counters(const World& world, const CommKey& key);

/// A row-major matrix of `n` columns in `World::memory`, at the same offset on every rank, and what
/// becomes of it (kernels/peer_exchange.hpp).
struct PeerMatrix {
  Collective collective = Collective::reduce_scatter;
  Dtype dtype = Dtype::bf16;
  std::int64_t n = 0;
  std::int64_t block_rows = 0;
  void* matrix = nullptr;
  void* result = nullptr;  ///< wherever; not for all_reduce, whose sums come to lie in the matrix
};

/// Enqueues only. One exchange at a time: all share the world's flags. `key.peers`, made ready.
void enqueue_peers(cudaStream_t stream, World& world, const CommKey& key, const PeerMatrix& what,
                   std::span<const kernels::PeerPiece> pieces);

/// A whole collective. `count`, `send` and `receive` as for `run::enqueue`.
void enqueue_peers(cudaStream_t stream, World& world, const CommKey& key, Collective collective,
                   Dtype dtype, void* send, void* receive, std::int64_t count);

}  // namespace overlaptune::run
