#include <algorithm>
#include <nccl_device.h>

#include "kernels/exchange.hpp"

namespace overlaptune::kernels {
namespace {

constexpr int kThreads = 1024;
/// Loads of one thread that are under way at once: few CTAs must keep the memory busy.
constexpr int kAhead = 8;
constexpr int kInVector = 8;

__global__ void addresses_kernel(ncclWindow_t window, int ranks, void** addresses) {
  for (int rank = 0; rank < ranks; ++rank) addresses[rank] = ncclGetLsaPointer(window, 0, rank);
}

__global__ void __launch_bounds__(kThreads, 1)
    exchange_move(uint4* to, const uint4* from, std::int64_t vectors) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  for (; at + (kAhead - 1) * step < vectors; at += kAhead * step) {
    uint4 loaded[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) loaded[i] = __ldcs(from + at + i * step);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) to[at + i * step] = loaded[i];
  }
  for (; at < vectors; at += step) to[at] = __ldcs(from + at);
}

}  // namespace

int ranks_in_reach(ncclComm_t communicator) {
  return ncclTeamLsa(communicator).nRanks;
}

void window_addresses(cudaStream_t stream, ncclWindow_t window, int ranks, void** addresses) {
  addresses_kernel<<<1, 1, 0, stream>>>(window, ranks, addresses);
}

void move(cudaStream_t stream, void* to, const void* from, std::int64_t elements, int ctas) {
  const std::int64_t vectors = elements / kInVector;
  // Each thread has its share of loads under way, if that leaves work for several CTAs.
  constexpr std::int64_t kShare = kThreads * kAhead;
  const std::int64_t needed = (vectors + kShare - 1) / kShare;
  if (needed < 1) return;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(needed, ctas));
  exchange_move<<<blocks, kThreads, 0, stream>>>(static_cast<uint4*>(to),
                                                 static_cast<const uint4*>(from), vectors);
}

}  // namespace overlaptune::kernels
