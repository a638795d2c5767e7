#pragma once
// Collectives by an overlaptune kernel, whose CTAs read and write the peers' memory
// (kernels/peer_exchange.hpp).

#include <cstdint>
#include <span>

#include "kernels/peer_exchange.hpp"
#include "kernels/peer_push.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// The counters with which this rank's GEMM counts its tiles, or the peers the rows that they have
/// sent. They are among the flags of the world, where all ranks reach them. `key.peers` is set, and
/// `make_ready` was called for the key.
[[nodiscard]] std::uint32_t* peer_counters(const World& world, const CommKey& key);

/// The words of a rank by which GEMMs that store at ranks meet (kernels/peers.hpp). They are among
/// the flags of the world. As for `peer_counters`.
[[nodiscard]] kernels::StoreWords* store_words(const World& world, const CommKey& key, int rank);

/// The offset of an operand in `World::memory`. Throws `Failure` (`bad_input`): it is not in there.
[[nodiscard]] std::ptrdiff_t offset_in(const World& world, const void* operand);

/// A row-major matrix of `n` columns in `World::memory`, at the same offset on every rank, and the
/// collective on it (kernels/peer_exchange.hpp).
struct PeerMatrix {
  Collective collective = Collective::reduce_scatter;
  Dtype dtype = Dtype::bf16;
  std::int64_t n = 0;
  std::int64_t block_rows = 0;
  void* matrix = nullptr;
  void* result = nullptr;  ///< any device memory; unused by all_reduce, whose sums go to `matrix`
};

/// Enqueues an exchange. Only one exchange runs at a time, because all use the world's flags.
/// `key.peers` is set, and `make_ready` was called for the key. Throws `Failure` (`bad_input`): the
/// matrix is not in `World::memory`, a piece is too large, or there are more than `kMostRegions`.
void enqueue_peers(cudaStream_t stream, World& world, const CommKey& key, const PeerMatrix& what,
                   std::span<const kernels::PeerPiece> pieces);

/// The row block of this rank, and the matrix in `World::memory`, at the same offset on every rank,
/// whose row blocks come from all ranks (kernels/peer_push.hpp).
struct PeerRows {
  std::int64_t row_bytes = 0;
  std::int64_t block_rows = 0;
  const void* source = nullptr;  ///< any device memory
  void* matrix = nullptr;
};

/// Enqueues a push of rows. Otherwise as `enqueue_peers`.
void push_to_peers(cudaStream_t stream, World& world, const CommKey& key, const PeerRows& what,
                   std::span<const kernels::PushedRows> pieces);

/// Enqueues a whole collective. `count`, `send` and `receive`: as for `run::enqueue`.
void enqueue_peers(cudaStream_t stream, World& world, const CommKey& key, Collective collective,
                   Dtype dtype, const void* send, void* receive, std::int64_t count);

}  // namespace overlaptune::run
