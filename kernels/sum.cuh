#pragma once
// Sums, in fp32, of vectors of eight bf16 or fp16 elements.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace overlaptune::kernels {

constexpr int kInVector = 8;

template <class Two>
__device__ float2 wide(Two pair);
template <>
__device__ inline float2 wide(__nv_bfloat162 pair) {
  return __bfloat1622float2(pair);
}
template <>
__device__ inline float2 wide(__half2 pair) {
  return __half22float2(pair);
}

template <class Two>
__device__ Two narrow(float2 pair);
template <>
__device__ inline __nv_bfloat162 narrow(float2 pair) {
  return __float22bfloat162_rn(pair);
}
template <>
__device__ inline __half2 narrow(float2 pair) {
  return __float22half2_rn(pair);
}

/// The sum of vectors. `Two`: the type of a pair of elements.
template <class Two>
struct Sum {
  float2 pairs[kInVector / 2] = {};

  __device__ void add(const uint4& vector) {
    const auto* more = reinterpret_cast<const Two*>(&vector);
#pragma unroll
    for (int i = 0; i < kInVector / 2; ++i) {
      const float2 pair = wide<Two>(more[i]);
      pairs[i].x += pair.x;
      pairs[i].y += pair.y;
    }
  }

  __device__ uint4 rounded() const {
    uint4 vector;
    auto* to = reinterpret_cast<Two*>(&vector);
#pragma unroll
    for (int i = 0; i < kInVector / 2; ++i) to[i] = narrow<Two>(pairs[i]);
    return vector;
  }
};

}  // namespace overlaptune::kernels
