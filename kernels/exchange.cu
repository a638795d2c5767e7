#include <algorithm>
#include <nccl_device.h>

#include "kernels/exchange.hpp"
#include "kernels/sum.cuh"

namespace overlaptune::kernels {
namespace {

constexpr int kThreads = 1024;
/// Loads of one thread that are under way at once: few CTAs must keep the memory busy.
constexpr int kAhead = 8;

__global__ void addresses_kernel(ncclWindow_t window, int ranks, void** addresses) {
  for (int rank = 0; rank < ranks; ++rank) addresses[rank] = ncclGetLsaPointer(window, 0, rank);
}

/// Sizes in vectors of 16 bytes. `PARTS`: 1 + count, or 0 for any.
template <class Two, int PARTS>
__global__ void __launch_bounds__(kThreads, 1)
    exchange_sum(uint4* sum, const uint4* own, const uint4* arrived, int count, std::int64_t stride,
                 std::int64_t vectors) {
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if constexpr (PARTS > 0) {
    constexpr int kSums = kAhead / PARTS;
    for (; at + (kSums - 1) * step < vectors; at += kSums * step) {
      uint4 loaded[kSums][PARTS];
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
#pragma unroll
        for (int part = 0; part < PARTS; ++part) {
          const uint4* from = part == 0 ? own : arrived + (part - 1) * stride;
          loaded[i][part] = __ldcs(from + at + i * step);
        }
      }
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        Sum<Two> all;
#pragma unroll
        for (int part = 0; part < PARTS; ++part) all.add(loaded[i][part]);
        sum[at + i * step] = all.rounded();
      }
    }
  }
  for (; at < vectors; at += step) {
    Sum<Two> all;
    all.add(own[at]);
    for (int part = 0; part < count; ++part) all.add(__ldcs(arrived + part * stride + at));
    sum[at] = all.rounded();
  }
}

using SumKernel = void (*)(uint4*, const uint4*, const uint4*, int, std::int64_t, std::int64_t);

template <class Two>
SumKernel sum_kernel_of(int count) {
  switch (count) {
    case 0:
      return exchange_sum<Two, 1>;
    case 1:
      return exchange_sum<Two, 2>;
    case 3:
      return exchange_sum<Two, 4>;
    case 7:
      return exchange_sum<Two, 8>;
    default:
      return exchange_sum<Two, 0>;
  }
}

}  // namespace

int ranks_in_reach(ncclComm_t communicator) {
  return ncclTeamLsa(communicator).nRanks;
}

void window_addresses(cudaStream_t stream, ncclWindow_t window, int ranks, void** addresses) {
  addresses_kernel<<<1, 1, 0, stream>>>(window, ranks, addresses);
}

void add(cudaStream_t stream, void* sum, const Addends& addends, Dtype dtype, int ctas) {
  const std::int64_t vectors = addends.elements / kInVector;
  // Each thread has its share of loads under way, if that leaves work for several CTAs.
  const std::int64_t share = kThreads * std::max(1, kAhead / (1 + addends.count));
  const std::int64_t needed = (vectors + share - 1) / share;
  if (needed < 1) return;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(needed, ctas));
  const auto* own = static_cast<const uint4*>(addends.own);
  const auto* arrived = static_cast<const uint4*>(addends.arrived);
  const std::int64_t stride = addends.stride / kInVector;
  auto* to = static_cast<uint4*>(sum);
  const SumKernel kernel = dtype == Dtype::bf16 ? sum_kernel_of<__nv_bfloat162>(addends.count)
                                                : sum_kernel_of<__half2>(addends.count);
  kernel<<<blocks, kThreads, 0, stream>>>(to, own, arrived, addends.count, stride, vectors);
}

}  // namespace overlaptune::kernels
