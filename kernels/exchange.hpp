#pragma once
// Moves within this GPU, for exchanges by copy engines.

#include <cstdint>
#include <cuda_runtime_api.h>

namespace overlaptune::kernels {

/// Contiguous rows at `from`, and the place `to` where they belong. Sizes and strides are in bytes;
/// they and the addresses are multiples of 16. `rows` times `row_bytes` is below 2^36.
struct Rows {
  void* to = nullptr;
  const void* from = nullptr;
  std::int64_t row_bytes = 0;
  std::int64_t rows = 1;
  std::int64_t stride = 0;  ///< from row to row of `to`
  int blocks = 1;           ///< blocks of `rows` rows each
  std::int64_t to_block = 0;
  std::int64_t from_block = 0;
};

/// Number of CTAs of a move that takes all SMs that become free: each SM runs several of them.
inline constexpr int kCtasOfAnySms = 1024;

/// Copies rows within the GPU, on up to `ctas` CTAs (at least one for each block) of 1024 threads
/// without shared memory. They take the SMs that a GEMM leaves, and all SMs once it has ended. A
/// copy by the driver may wait for that end.
[[nodiscard]] cudaError_t move(cudaStream_t stream, const Rows& rows, int ctas = kCtasOfAnySms);

}  // namespace overlaptune::kernels
