// All CTAs go through the pieces in their order. For each they wait until every rank has counted
// its shares, and copy a part of it.

#include "kernels/piece_copy.hpp"
#include "kernels/piece_walk.cuh"

namespace overlaptune::kernels {
namespace {

constexpr int kThreads = 512;
/// Vectors of one thread that are under way at once.
constexpr int kAhead = 4;

struct Arguments {
  device::Run run;
  const uint4* matrix;
  uint4* result;
  std::int64_t pitch;     ///< vectors of a row
  std::uint32_t* copied;  ///< pieces, by each CTA
  std::uint32_t shares;   ///< of a piece, of all ranks
  int pieces;
  PeerPiece piece[kMostRegions];  ///< columns are counted in vectors
};

__device__ void copy(const Arguments& all, const PeerPiece& piece) {
  const std::uint32_t end =
      static_cast<std::uint32_t>(piece.columns) * static_cast<std::uint32_t>(piece.rows);
  const std::uint32_t step = gridDim.x * kThreads;
  const std::uint32_t first = blockIdx.x * kThreads + threadIdx.x;
  Walk walk(all.pitch, piece, first, step);
#pragma unroll 1
  for (std::uint32_t at = first; at < end; at += kAhead * step) {
    uint4 vectors[kAhead];
    Walk stores = walk.once_more();
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (at + i * step < end) vectors[i] = __ldcg(all.matrix + walk.next());  // peers store there
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (at + i * step < end) __stcs(all.result + stores.next(), vectors[i]);
    }
  }
}

/// Whether all shares of a piece are counted in a while.
__device__ bool comes(const Arguments& all, int number) {
  constexpr device::u64 kPatience = 1'000'000;  // ns
  const device::u32* const counted = device::own_flags(all.run)->summed + number;
  const device::u64 since = device::nanoseconds();
  while (!device::has_reached(counted, all.shares)) {
    if (device::nanoseconds() - since > kPatience) return false;
  }
  return true;
}

__global__ void __launch_bounds__(kThreads)
    copy_kernel(const __grid_constant__ Arguments all, CopyPart part) {
  __shared__ bool there;
  int number = part == CopyPart::rest ? static_cast<int>(all.copied[blockIdx.x]) : 0;
#pragma unroll 1
  for (; number < all.pieces; ++number) {
    if (threadIdx.x == 0) there = part == CopyPart::rest || comes(all, number);
    __syncthreads();
    if (!there) break;
    copy(all, all.piece[number]);
    __syncthreads();  // all have read `there`
  }
  if (threadIdx.x == 0 && part == CopyPart::beside) {
    all.copied[blockIdx.x] = static_cast<std::uint32_t>(number);
  }
}

}  // namespace

cudaError_t copy_pieces(cudaStream_t stream, const PieceCopy& what, CopyPart part,
                        std::span<const PeerPiece> pieces, int ctas) {
  Arguments all{.run = device::run_of(what.barrier),
                .matrix = static_cast<const uint4*>(what.matrix),
                .result = static_cast<uint4*>(what.result),
                .pitch = what.n / kInVector,
                .copied = what.copied,
                .shares = static_cast<std::uint32_t>(what.exchange_ctas * what.barrier.ranks),
                .pieces = static_cast<int>(pieces.size())};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    all.piece[i] = in_vectors(pieces[i], all.pitch);
  }
  return launch(stream, {static_cast<unsigned>(ctas), kThreads}, copy_kernel, all, part);
}

}  // namespace overlaptune::kernels
