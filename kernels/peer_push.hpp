#pragma once
// Rows that a few CTAs store into the peers' memory: an all_gather, whole or in pieces.

#include <array>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <span>

#include "kernels/peers.hpp"

namespace overlaptune::kernels {

/// Some rows of this rank's row block, and the ranks that get them.
struct PushedRows {
  static constexpr int kToAll = 0;
  static constexpr int kNoCounter = -1;

  std::int32_t first_row = 0;
  std::int32_t rows = 0;
  /// They go to rank `rank + turn` (around), or with `kToAll` to every rank, this one included.
  std::int32_t turn = kToAll;
  /// The receiver's counter, which each CTA increments as it has stored its share; or none.
  std::int32_t counter = kNoCounter;
};

/// The row block of this rank becomes row block `rank` of every rank's matrix.
struct PeerPush {
  /// A piece has fewer bytes than this.
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 35;

  int rank = 0;
  int ranks = 0;
  std::int64_t row_bytes = 0;    ///< a multiple of 16
  std::int64_t block_rows = 0;   ///< rows of one row block
  const void* source = nullptr;  ///< the rank's row block, in any device memory
  /// Every rank's matrix and words, by their addresses on this GPU (multiples of 16 bytes).
  std::array<void*, PeerWords::kMostRanks> matrices{};
  std::array<std::uint32_t*, PeerWords::kMostRanks> words{};  ///< `PeerWords`
};

/// Enqueues a push on `ctas` CTAs without shared memory, piece by piece. Every rank enqueues as
/// many pieces of the same sizes, on the same number of CTAs. It stores nothing before all ranks
/// have begun, and ends on no rank before all have stored what that rank receives. A wait of more
/// than five minutes ends in an error of the device. There are at most `kMostRegions` pieces, and
/// `PeerWords::kMostCtas` CTAs.
void push(cudaStream_t stream, const PeerPush& what, std::span<const PushedRows> pieces, int ctas);

}  // namespace overlaptune::kernels
