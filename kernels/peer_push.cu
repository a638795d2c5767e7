// Each CTA takes shares of pieces from the queue, and stores them into the matrices of all ranks.

#include "kernels/peer_push.hpp"
#include "kernels/waits.cuh"

namespace overlaptune::kernels {
namespace {

constexpr int kThreads = 512;
/// Vectors of one thread that are under way at once.
constexpr int kAhead = 8;
constexpr std::int64_t kVectorBytes = 16;

struct Arguments {
  device::Run run;
  uint4* matrices[RankFlags::kMostRanks];
  const uint4* source;
  std::int64_t block;   ///< vectors of a row block
  std::uint32_t share;  ///< vectors of a share
};

__device__ void store(const Arguments& all, std::uint32_t begin, std::uint32_t end) {
  const std::int64_t to = all.run.rank * all.block;
  for (std::uint32_t at = begin + threadIdx.x; at < end; at += kAhead * kThreads) {
    uint4 loaded[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (at + i * kThreads < end) loaded[i] = all.source[at + i * kThreads];
    }
    for (int turn = 0; turn < all.run.ranks; ++turn) {
      uint4* const matrix = all.matrices[(all.run.rank + turn) % all.run.ranks] + to;
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (at + i * kThreads < end) matrix[at + i * kThreads] = loaded[i];
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads, 1) peer_push(const __grid_constant__ Arguments all) {
  const auto vectors = static_cast<std::uint32_t>(all.block);
  const bool last = device::each_item(all.run, [&](int position) {
    const std::uint32_t begin = position * all.share;
    store(all, begin, min(vectors, begin + all.share));
  });
  device::part(all.run, last);
}

}  // namespace

cudaError_t push(cudaStream_t stream, const PeerPush& what, int ctas) {
  constexpr std::int64_t kPass = std::int64_t{kThreads} * kAhead;
  const std::int64_t vectors = what.bytes / kVectorBytes;
  // A few shares for each CTA; one that begins late takes fewer.
  constexpr std::int64_t kSharesACta = 4;
  const std::int64_t passes = (vectors + kPass - 1) / kPass;
  const std::int64_t wanted = std::int64_t{ctas} * kSharesACta;
  const std::int64_t share = (passes + wanted - 1) / wanted * kPass;
  const auto items = static_cast<int>((vectors + share - 1) / share);
  Arguments all{.run = device::run_of(what.barrier, items, ctas),
                .source = static_cast<const uint4*>(what.source),
                .block = vectors,
                .share = static_cast<std::uint32_t>(share)};
  for (int rank = 0; rank < what.barrier.ranks; ++rank) {
    all.matrices[rank] = static_cast<uint4*>(what.matrices[static_cast<std::size_t>(rank)]);
  }
  return launch(stream, {static_cast<unsigned>(ctas), kThreads}, peer_push, all);
}

}  // namespace overlaptune::kernels
