#pragma once
// Copies of an all_reduce's pieces from this rank's matrix, beside the exchange: each as soon as
// the sums of all ranks are in it.

#include "kernels/peer_exchange.hpp"

namespace overlaptune::kernels {

/// For an exchange that `tells`, with the same pieces.
struct PieceCopy {
  RankBarrier barrier{};
  std::int64_t n = 0;  ///< columns, a multiple of 8
  const void* matrix = nullptr;
  void* result = nullptr;  ///< any memory of this GPU, in the layout of the matrix
  int exchange_ctas = 0;
  /// In GPU memory: a word for each CTA of the copy.
  std::uint32_t* copied = nullptr;
};

/// The pieces that one launch copies.
enum class CopyPart {
  /// Those that come while it runs, one after the other. It waits for each 1 ms at most, and so
  /// ends by itself: where all streams share a queue, the exchange may be behind it.
  beside,
  rest,  ///< those that `beside` has left, behind it and the exchange
};

/// Enqueues one part of the copy, on the same number of CTAs for both. Those of `beside` wait on
/// their SMs: leave the exchange its own. Returns the status of the launch.
[[nodiscard]] cudaError_t copy_pieces(cudaStream_t stream, const PieceCopy& what, CopyPart part,
                                      std::span<const PeerPiece> pieces, int ctas);

}  // namespace overlaptune::kernels
