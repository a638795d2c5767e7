// What each CTA does (kernels/meet.cuh says how the ranks meet):
//
//     meet: begun     every rank has reset its counters, and no longer reads what was in its matrix
//     per piece: store this CTA's share into the receiver's matrix; increment its counter
//     meet: done      all that this rank receives from these CTAs is stored

#include "kernels/meet.cuh"
#include "kernels/peer_push.hpp"

namespace overlaptune::kernels {
namespace {

constexpr int kThreads = 512;
/// Vectors of one thread that are under way at once.
constexpr int kAhead = 8;
constexpr std::int64_t kVectorBytes = 16;

struct Arguments {
  uint4* matrices[PeerWords::kMostRanks];
  std::uint32_t* words[PeerWords::kMostRanks];
  const uint4* source;
  std::int64_t pitch;  ///< vectors of a row
  std::int64_t block;  ///< vectors of a row block
  int rank;
  int ranks;
  int pieces;
  PushedRows piece[kMostRegions];
};

/// Calls `store(index, vector)` for each vector of this CTA's share.
template <class Store>
__device__ void each_vector(const uint4* from, std::uint32_t vectors, const Store& store) {
  const std::uint32_t step = gridDim.x * kThreads;
  for (std::uint32_t at = blockIdx.x * kThreads + threadIdx.x; at < vectors; at += kAhead * step) {
    uint4 loaded[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (at + i * step < vectors) loaded[i] = from[at + i * step];
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (at + i * step < vectors) store(at + i * step, loaded[i]);
    }
  }
}

__device__ void store(const Arguments& all, const PushedRows& piece) {
  const std::int64_t first = piece.first_row * all.pitch;
  const auto vectors = static_cast<std::uint32_t>(piece.rows * all.pitch);
  const std::int64_t to = all.rank * all.block + first;
  const int only = (all.rank + piece.turn) % all.ranks;
  if (piece.turn != PushedRows::kToAll) {
    uint4* const matrix = all.matrices[only] + to;
    each_vector(all.source + first, vectors,
                [&](std::uint32_t at, const uint4& vector) { matrix[at] = vector; });
    return;
  }
  each_vector(all.source + first, vectors, [&](std::uint32_t at, const uint4& vector) {
    for (int turn = 0; turn < all.ranks; ++turn) {
      all.matrices[(all.rank + turn) % all.ranks][to + at] = vector;
    }
  });
}

/// Increments the receivers' counter, after all stores of this CTA.
__device__ void signal(const Arguments& all, const PushedRows& piece) {
  __syncthreads();
  if (threadIdx.x != 0 || piece.counter == PushedRows::kNoCounter) return;
  const int receivers = piece.turn == PushedRows::kToAll ? all.ranks : 1;
  for (int i = 0; i < receivers; ++i) {
    add_release(all.words[(all.rank + piece.turn + i) % all.ranks] + piece.counter, 1);
  }
}

__global__ void __launch_bounds__(kThreads, 1) peer_push(const __grid_constant__ Arguments all) {
  meet(all.words, all.rank, all.ranks, Event::begun);
  __syncthreads();
  for (int i = 0; i < all.pieces; ++i) {
    store(all, all.piece[i]);
    signal(all, all.piece[i]);
  }
  __syncthreads();
  meet(all.words, all.rank, all.ranks, Event::done);
}

}  // namespace

void push(cudaStream_t stream, const PeerPush& what, std::span<const PushedRows> pieces, int ctas) {
  const std::int64_t pitch = what.row_bytes / kVectorBytes;
  Arguments all{.source = static_cast<const uint4*>(what.source),
                .pitch = pitch,
                .block = what.block_rows * pitch,
                .rank = what.rank,
                .ranks = what.ranks,
                .pieces = static_cast<int>(pieces.size())};
  for (int rank = 0; rank < what.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    all.matrices[rank] = static_cast<uint4*>(what.matrices[r]);
    all.words[rank] = what.words[r];
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) all.piece[i] = pieces[i];
  peer_push<<<static_cast<unsigned>(ctas), kThreads, 0, stream>>>(all);
}

}  // namespace overlaptune::kernels
