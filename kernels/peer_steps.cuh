#pragma once
// The items of an exchange (peer_exchange.cu): in which order they come, and which vectors each of
// them moves. A step is worked off by as many items as the launch has CTAs.
//
// An all-reduce takes two steps for a piece: the ranks add up a part of it each, and then fetch the
// parts of the others. A fetch waits for the sums of all ranks, so it comes behind the sums of all
// pieces that become complete together, not directly behind its own. It does not come later still:
// the pieces behind it wait for tiles that may not be computed yet.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/device/ptx/common.cuh"
#include "kernels/peer_piece.hpp"

namespace overlaptune::kernels {

/// Work on a piece: to add it up, or otherwise exchange it; or to fetch the peers' sums of it.
struct PeerStep {
  std::int16_t piece = 0;
  bool fetches = false;
  friend bool operator==(const PeerStep&, const PeerStep&) = default;
};

/// The steps of pieces, in the order of the queue. `sums_all`: for an all-reduce.
inline std::vector<PeerStep> steps_of(std::span<const PeerPiece> pieces, bool sums_all) {
  std::vector<PeerStep> steps;
  for (std::size_t begin = 0, end = 0; begin < pieces.size(); begin = end) {
    while (end < pieces.size() && pieces[end].counter == pieces[begin].counter) ++end;
    for (const bool fetches : {false, true}) {
      for (std::size_t i = begin; i < end && (sums_all || !fetches); ++i) {
        steps.push_back({static_cast<std::int16_t>(i), fetches});
      }
    }
  }
  return steps;
}

/// The pieces, each with `large` vectors or more cut into two halves: the ranks wait for the sums
/// of the first half while they add up the second one. Columns are counted in vectors.
inline std::vector<PeerPiece> in_halves(std::span<const PeerPiece> pieces, std::int64_t large) {
  std::vector<PeerPiece> halves;
  for (PeerPiece piece : pieces) {
    const bool by_rows = piece.rows > 1;
    if (std::int64_t{piece.rows} * piece.columns >= large && (by_rows || piece.columns > 1)) {
      PeerPiece first = piece;
      auto& size = by_rows ? first.rows : first.columns;
      size /= 2;
      halves.push_back(first);
      (by_rows ? piece.first_row : piece.first_column) += size;
      (by_rows ? piece.rows : piece.columns) -= size;
    }
    halves.push_back(piece);
  }
  return halves;
}

namespace device {

/// Division by a number that stays the same: the GPU has no instruction for it.
struct Divisor {
  u32 by;
  u32 reciprocal;

  __device__ explicit Divisor(u32 number) : by(number), reciprocal(0xffffffffu / number) {}

  __device__ __forceinline__ u32 quotient(u32 dividend) const {
    const u32 found = static_cast<u32>(u64{dividend} * reciprocal >> 32U);  // or one too small
    return dividend - found * by < by ? found : found + 1;
  }
};

/// The number of vectors of a piece that one rank adds up. Rank r has those from r times this
/// number on; the last ranks may have fewer, or none.
__device__ __forceinline__ u32 owned_vectors(u32 vectors, int ranks) {
  const u32 divisor = static_cast<u32>(ranks);
  return (vectors + divisor - 1) / divisor;
}

/// Vectors that a rank fetches: from the vectors of `owner`, those from `first` on.
struct Fetched {
  int owner;
  u32 first;
};

/// Block `number` of those that `rank` fetches from its `peers`, `size` vectors each. Blocks that
/// are next to each other come from different peers, so that all links are in use.
__device__ __forceinline__ Fetched fetched_block(int rank, const Divisor& peers, u32 number,
                                                 u32 size) {
  const u32 row = peers.quotient(number);
  const int owner = rank + 1 + static_cast<int>(number - row * peers.by);
  const int ranks = static_cast<int>(peers.by) + 1;
  return {owner < ranks ? owner : owner - ranks, row * size};
}

}  // namespace device
}  // namespace overlaptune::kernels
