#pragma once
// Collectives by an overlaptune kernel, whose CTAs read and write the peers' memory
// (kernels/peer_exchange.hpp).

#include <cstdint>
#include <span>

#include "kernels/gate.hpp"
#include "kernels/peer_exchange.hpp"
#include "kernels/peer_push.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// Enqueues a gate: later work of the stream starts once all ranks of the key have reached this
/// point (kernels/gate.hpp). `make_ready` was called for the key, which maps memory. `placed`: what
/// the kernels behind the gate exchange, where each rank may have it at another place, in
/// `World::memory` or in `World::results`; null: nothing. Returns what the next launch of the
/// stream is told of it.
kernels::Before enqueue_gate(cudaStream_t stream, const World& world, const CommKey& key,
                             kernels::Counters counters, const void* placed = nullptr);

/// The barrier of a launch that exchanges `placed`. Throws `Failure` (`bad_input`): it is in
/// neither memory, or at no multiple of `kernels::device::kPlaceBytes`.
[[nodiscard]] kernels::RankBarrier barrier_with(const World& world, const CommKey& key,
                                                const void* placed);

/// The offset of an operand in `World::memory`. Throws `Failure` (`bad_input`): it is not in there.
[[nodiscard]] std::ptrdiff_t offset_in(const World& world, const void* operand);

/// The address at rank `peer` that corresponds to `here` in this rank's `World::memory`. Throws as
/// `offset_in`.
[[nodiscard]] std::byte* there(const World& world, const CommKey& key, int peer, const void* here);

/// A row-major matrix of `n` columns, of which each rank tells the others its place, and the
/// collective on it (kernels/peer_exchange.hpp).
struct PeerMatrix {
  Collective collective = Collective::reduce_scatter;
  Dtype dtype = Dtype::bf16;
  std::int64_t n = 0;
  std::int64_t block_rows = 0;
  void* matrix = nullptr;
  void* result = nullptr;  ///< any memory of this GPU; null for all_reduce
};

/// Enqueues an exchange, behind a gate that tells the place of the matrix. Only one exchange runs
/// at a time, because all use the world's words. `key.peers` is set, and `make_ready` was called
/// for the key. Throws `Failure` (`bad_input`): as `barrier_with`; a piece is too large; or there
/// are more than `kMostRegions`.
void enqueue_peers(cudaStream_t stream, World& world, const CommKey& key, const PeerMatrix& what,
                   std::span<const kernels::PeerPiece> pieces);

/// Enqueues a gate and a whole collective. `count`, `send` and `receive`: as for `run::enqueue`.
void enqueue_peers(cudaStream_t stream, World& world, const CommKey& key, Collective collective,
                   Dtype dtype, const void* send, void* receive, std::int64_t count);

}  // namespace overlaptune::run
