#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
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

template <class Two>
__device__ float2 wide(Two pair);
template <>
__device__ float2 wide(__nv_bfloat162 pair) {
  return __bfloat1622float2(pair);
}
template <>
__device__ float2 wide(__half2 pair) {
  return __half22float2(pair);
}

template <class Two>
__device__ Two narrow(float2 pair);
template <>
__device__ __nv_bfloat162 narrow(float2 pair) {
  return __float22bfloat162_rn(pair);
}
template <>
__device__ __half2 narrow(float2 pair) {
  return __float22half2_rn(pair);
}

struct Sum {
  float2 pairs[kInVector / 2] = {};

  template <class Two>
  __device__ void add(const uint4& vector) {
    const auto* more = reinterpret_cast<const Two*>(&vector);
#pragma unroll
    for (int i = 0; i < kInVector / 2; ++i) {
      const float2 pair = wide<Two>(more[i]);
      pairs[i].x += pair.x;
      pairs[i].y += pair.y;
    }
  }

  template <class Two>
  __device__ uint4 rounded() const {
    uint4 vector;
    auto* to = reinterpret_cast<Two*>(&vector);
#pragma unroll
    for (int i = 0; i < kInVector / 2; ++i) to[i] = narrow<Two>(pairs[i]);
    return vector;
  }
};

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
        Sum all;
#pragma unroll
        for (int part = 0; part < PARTS; ++part) all.add<Two>(loaded[i][part]);
        sum[at + i * step] = all.rounded<Two>();
      }
    }
  }
  for (; at < vectors; at += step) {
    Sum all;
    all.add<Two>(own[at]);
    for (int part = 0; part < count; ++part) all.add<Two>(__ldcs(arrived + part * stride + at));
    sum[at] = all.rounded<Two>();
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
