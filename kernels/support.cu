#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "kernels/launch.cuh"
#include "kernels/support.hpp"

namespace overlaptune::kernels {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(std::int64_t count) {
  constexpr std::int64_t kMostBlocks = 132 * 16;
  const std::int64_t blocks = (count + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

template <class T>
__device__ double wide(T value) {
  return static_cast<double>(static_cast<float>(value));
}

/// splitmix64 (Steele, Lea and Flood, 2014) as a hash of the index.
__device__ std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Box and Muller, 1958.
__device__ float normal(std::uint64_t seed, std::int64_t index) {
  const std::uint64_t bits = mixed(mixed(seed) ^ static_cast<std::uint64_t>(index));
  const float u = (static_cast<float>(bits >> 40) + 0.5F) * 0x1p-24F;
  const float v = static_cast<float>((bits >> 16) & 0xffffffU) * 0x1p-24F;
  return sqrtf(-2.0F * logf(u)) * cospif(2.0F * v);
}

template <class T>
__global__ void fill_kernel(T* data, const std::int64_t* rows, std::int64_t count, std::int64_t k,
                            std::uint64_t seed) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count * k;
       i += step) {
    data[i] = static_cast<T>(normal(seed, rows == nullptr ? i : rows[i / k] * k + i % k));
  }
}

/// A power of two from 1/16 to 1, times 1 to 2.
__device__ float scale(std::uint64_t seed, std::int64_t index) {
  const std::uint64_t bits = mixed(mixed(seed) ^ static_cast<std::uint64_t>(index));
  const float fraction = 1.0F + static_cast<float>(bits >> 40) * 0x1p-24F;
  return ldexpf(fraction, static_cast<int>(bits % 5) - 4);
}

__global__ void scales_kernel(float* scales, const std::int64_t* rows, std::int64_t count,
                              std::uint64_t seed) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) scales[i] = scale(seed, rows == nullptr ? i : rows[i]);
}

/// Scales of the rows of A and of B; null: 1.
struct ProductScales {
  const float* a;
  const float* b;
  std::int64_t stride;
};
__device__ double scale_at(const float* scales, std::int64_t index) {
  return scales == nullptr ? 1.0 : static_cast<double>(scales[index]);
}

constexpr int kTileRows = 16;
constexpr int kTileColumns = 64;
constexpr int kTileDepth = 32;

/// One block computes 16 x 64 sums, a thread four of them.
template <class T>
__global__ void products_kernel(const T* a, const T* b, double* sums, std::int64_t rows,
                                std::int64_t n, std::int64_t k, ProductScales scales) {
  __shared__ double a_tile[kTileRows][kTileDepth];
  __shared__ double b_tile[kTileColumns][kTileDepth + 1];
  const std::int64_t first_row = std::int64_t{blockIdx.y} * kTileRows;
  const std::int64_t first_column = std::int64_t{blockIdx.x} * kTileColumns;
  const int column = static_cast<int>(threadIdx.x) % kTileColumns;
  const int row = static_cast<int>(threadIdx.x) / kTileColumns * 4;
  double sum[4] = {0, 0, 0, 0};
  for (std::int64_t depth = 0; depth < k; depth += kTileDepth) {
    for (int i = static_cast<int>(threadIdx.x); i < kTileRows * kTileDepth; i += kThreads) {
      const std::int64_t r = first_row + i / kTileDepth;
      const std::int64_t d = depth + i % kTileDepth;
      a_tile[i / kTileDepth][i % kTileDepth] = r < rows && d < k ? wide(a[r * k + d]) : 0.0;
    }
    for (int i = static_cast<int>(threadIdx.x); i < kTileColumns * kTileDepth; i += kThreads) {
      const std::int64_t c = first_column + i / kTileDepth;
      const std::int64_t d = depth + i % kTileDepth;
      b_tile[i / kTileDepth][i % kTileDepth] = c < n && d < k ? wide(b[c * k + d]) : 0.0;
    }
    __syncthreads();
#pragma unroll 8
    for (int d = 0; d < kTileDepth; ++d) {
      const double factor = b_tile[column][d];
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += a_tile[row + i][d] * factor;
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    const std::int64_t r = first_row + row + i;
    const std::int64_t c = first_column + column;
    if (r < rows && c < n) {
      sums[r * n + c] +=
          sum[i] * scale_at(scales.a, r * scales.stride) * scale_at(scales.b, c * scales.stride);
    }
  }
}

constexpr int kSegment = 64;

/// The number of segments of a row. Columns left over belong to the last segment: on their own, few
/// columns could have a large error by chance.
__host__ __device__ std::int64_t segments_of(std::int64_t n) {
  return n < kSegment ? 1 : n / kSegment;
}

/// Each warp takes one segment. `atomicMax` compares the bits of the errors, because non-negative
/// doubles have the order of their bits.
template <class T>
__global__ void segments_kernel(const T* c, const double* reference, const std::int64_t* rows,
                                std::int64_t count, std::int64_t n, Deviation* deviation) {
  const std::int64_t segments = segments_of(n);
  const std::int64_t warp = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (warp >= count * segments) return;
  const std::int64_t row = warp / segments;
  const std::int64_t first = warp % segments * kSegment;
  const std::int64_t end = warp % segments + 1 == segments ? n : first + kSegment;
  double off = 0;
  double size = 0;
  for (std::int64_t j = first + lane; j < end; j += 32) {
    const double expected = reference[row * n + j];
    const double difference = wide(c[rows[row] * n + j]) - expected;
    off += difference * difference;
    size += expected * expected;
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    off += __shfl_xor_sync(0xffffffffU, off, distance);
    size += __shfl_xor_sync(0xffffffffU, size, distance);
  }
  if (lane != 0) return;
  const double error = isfinite(off) ? sqrt(off / size) : INFINITY;
  atomicMax(reinterpret_cast<unsigned long long*>(&deviation->largest),
            static_cast<unsigned long long>(__double_as_longlong(error)));
}

template <class T>
__global__ void finite_kernel(const T* c, std::int64_t elements, Deviation* deviation) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  unsigned long long found = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements;
       i += step) {
    if (!isfinite(wide(c[i]))) ++found;
  }
  if (found > 0) atomicAdd(&deviation->not_finite, found);
}

/// Copies four vectors that are `step` apart, with four loads in flight.
__device__ void copy_four(uint4* to, const uint4* from, std::int64_t step) {
  const uint4 a = from[0];
  const uint4 b = from[step];
  const uint4 c = from[2 * step];
  const uint4 d = from[3 * step];
  to[0] = a;
  to[step] = b;
  to[2 * step] = c;
  to[3 * step] = d;
}

__global__ void copy_kernel(uint4* to, const uint4* from, std::int64_t count) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + 3 * step < count; i += 4 * step) copy_four(to + i, from + i, step);
  for (; i < count; i += step) to[i] = from[i];
}

__device__ std::uint64_t now() {
  std::uint64_t time = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__global__ void spin_kernel(std::uint64_t nanoseconds) {
  const std::uint64_t start = now();
  while (now() - start < nanoseconds) __nanosleep(200);
}

__device__ bool is_set(const std::uint32_t* flag) {
  std::uint32_t seen = 0;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  return seen != 0;
}

__global__ void copy_until_kernel(uint4* to, const uint4* from, std::int64_t count,
                                  const std::uint32_t* flag, std::uint64_t nanoseconds) {
  constexpr int kBetweenLooks = 4;
  const std::uint64_t start = now();
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  std::int64_t i = first;
  while (now() - start < nanoseconds && !is_set(flag)) {
    for (int copy = 0; copy < kBetweenLooks; ++copy, i += 4 * step) {
      if (i + 3 * step >= count) i = first;
      copy_four(to + i, from + i, step);
    }
  }
}

__global__ void occupy_kernel(const std::uint32_t* flag, std::uint64_t nanoseconds) {
  const std::uint64_t start = now();
  while (now() - start < nanoseconds) {
    if (is_set(flag)) return;
    __nanosleep(1000);
  }
}

__global__ void nothing_kernel() {}

__global__ void stamp_kernel(std::uint64_t* time, std::uint32_t* flag) {
  *time = now();
  if (flag == nullptr) return;
  asm volatile("red.release.sys.global.max.u32 [%0], 1;" ::"l"(flag) : "memory");
}

__global__ void clock_kernel(ClockStamp* stamp) {
  std::uint32_t sm = 0;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  *stamp = {static_cast<std::uint64_t>(clock64()), now(), sm};
}

__global__ void illegal_kernel() {
  *reinterpret_cast<volatile int*>(0x10) = 1;
}

/// Calls `visit` with a null pointer of the element's type, and returns what it returns.
template <class Visit>
cudaError_t with_type(Dtype dtype, Visit&& visit) {
  switch (dtype) {
    case Dtype::bf16:
      return visit(static_cast<__nv_bfloat16*>(nullptr));
    case Dtype::fp16:
      return visit(static_cast<__half*>(nullptr));
    case Dtype::e4m3:
      return visit(static_cast<__nv_fp8_e4m3*>(nullptr));
  }
  return cudaErrorInvalidValue;
}

/// Likewise for the types that results have.
template <class Visit>
cudaError_t with_result_type(Dtype dtype, Visit&& visit) {
  if (dtype == Dtype::fp16) return visit(static_cast<__half*>(nullptr));
  return dtype == Dtype::bf16 ? visit(static_cast<__nv_bfloat16*>(nullptr)) : cudaErrorInvalidValue;
}

}  // namespace

cudaError_t fill_normal(cudaStream_t stream, void* data, Dtype dtype, std::int64_t count,
                        std::uint64_t seed) {
  return fill_normal_rows(stream, data, dtype, nullptr, count, 1, seed);
}

cudaError_t fill_normal_rows(cudaStream_t stream, void* data, Dtype dtype, const std::int64_t* rows,
                             std::int64_t count, std::int64_t k, std::uint64_t seed) {
  if (count <= 0) return cudaSuccess;
  return with_type(dtype, [&]<class T>(T*) {
    return launch(stream, {blocks_for(count * k), kThreads}, fill_kernel<T>, static_cast<T*>(data),
                  rows, count, k, seed);
  });
}

cudaError_t fill_scales(cudaStream_t stream, float* scales, const std::int64_t* rows,
                        std::int64_t count, std::uint64_t seed) {
  if (count <= 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  return launch(stream, {blocks, kThreads}, scales_kernel, scales, rows, count, seed);
}

cudaError_t add_products(cudaStream_t stream, const void* a, const void* b, double* sums,
                         Dtype dtype, std::int64_t rows, std::int64_t n, std::int64_t k,
                         const float* a_scales, const float* b_scales, bool of_rows) {
  if (rows <= 0) return cudaSuccess;
  const dim3 grid(static_cast<unsigned>((n + kTileColumns - 1) / kTileColumns),
                  static_cast<unsigned>((rows + kTileRows - 1) / kTileRows));
  return with_type(dtype, [&]<class T>(T*) {
    return launch(stream, {grid, kThreads}, products_kernel<T>, static_cast<const T*>(a),
                  static_cast<const T*>(b), sums, rows, n, k,
                  ProductScales{a_scales, b_scales, of_rows ? 1 : 0});
  });
}

cudaError_t compare(cudaStream_t stream, const void* c, std::int64_t elements, Dtype dtype,
                    const double* reference, const std::int64_t* rows, std::int64_t count,
                    std::int64_t n, Deviation* deviation) {
  return with_result_type(dtype, [&]<class T>(T*) {
    const auto* elements_of_c = static_cast<const T*>(c);
    const cudaError_t status = launch(stream, {blocks_for(elements), kThreads}, finite_kernel<T>,
                                      elements_of_c, elements, deviation);
    const std::int64_t warps = count * segments_of(n);
    if (status != cudaSuccess || warps == 0) return status;
    const auto blocks = static_cast<unsigned>((warps * 32 + kThreads - 1) / kThreads);
    return launch(stream, {blocks, kThreads}, segments_kernel<T>, elements_of_c, reference, rows,
                  count, n, deviation);
  });
}

cudaError_t copy_by_stores(cudaStream_t stream, void* to, const void* from, std::int64_t bytes,
                           int ctas) {
  return launch(stream, {static_cast<unsigned>(ctas), 1024}, copy_kernel, static_cast<uint4*>(to),
                static_cast<const uint4*>(from), bytes / 16);
}

cudaError_t copy_until(cudaStream_t stream, void* to, const void* from, std::int64_t bytes,
                       int ctas, const std::uint32_t* flag, std::int64_t nanoseconds) {
  constexpr int kThreadsOfCopy = 1024;
  const std::int64_t count = bytes / 16;
  if (ctas < 1 || count < std::int64_t{4} * ctas * kThreadsOfCopy) return cudaErrorInvalidValue;
  return launch(stream, {static_cast<unsigned>(ctas), kThreadsOfCopy}, copy_until_kernel,
                static_cast<uint4*>(to), static_cast<const uint4*>(from), count, flag,
                static_cast<std::uint64_t>(nanoseconds));
}

cudaError_t spin(cudaStream_t stream, std::int64_t nanoseconds) {
  return launch(stream, {1, 1}, spin_kernel, static_cast<std::uint64_t>(nanoseconds));
}

cudaError_t occupy(cudaStream_t stream, int ctas, const std::uint32_t* flag,
                   std::int64_t nanoseconds) {
  if (ctas <= 0) return cudaSuccess;
  int device = 0;
  int most = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) {
    status = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  }
  if (status == cudaSuccess) {
    status = cudaFuncSetAttribute(occupy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
  }
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return status;
  }
  return launch(stream, {static_cast<unsigned>(ctas), 1, static_cast<std::size_t>(most)},
                occupy_kernel, flag, static_cast<std::uint64_t>(nanoseconds));
}

cudaError_t nothing(cudaStream_t stream) {
  return launch(stream, {1, 1}, nothing_kernel);
}

cudaError_t stamp_and_signal(cudaStream_t stream, std::uint64_t* time, std::uint32_t* flag) {
  return launch(stream, {1, 1}, stamp_kernel, time, flag);
}

cudaError_t stamp(cudaStream_t stream, std::uint64_t* time) {
  return launch(stream, {1, 1}, stamp_kernel, time, nullptr);
}

cudaError_t stamp_clock(cudaStream_t stream, ClockStamp* stamp) {
  return launch(stream, {1, 1}, clock_kernel, stamp);
}

cudaError_t illegal_store(cudaStream_t stream) {
  return launch(stream, {1, 1}, illegal_kernel);
}

}  // namespace overlaptune::kernels
