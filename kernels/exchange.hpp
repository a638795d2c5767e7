#pragma once
// Device code of exchanges by copy engines: where the peers' memory is, and moves of what stays
// here. Every function enqueues and returns.

#include <cstdint>
#include <cuda_runtime_api.h>
#include <nccl.h>

namespace overlaptune::kernels {

/// Ranks of the communicator in this one's NVLink domain, itself included.
[[nodiscard]] int ranks_in_reach(ncclComm_t communicator);

/// `addresses[r]` (device memory) becomes the address here of the first byte of rank r's window,
/// for `ranks` ranks of one NVLink domain.
void window_addresses(cudaStream_t stream, ncclWindow_t window, int ranks, void** addresses);

/// Rows that lie one behind the other, and where they belong. Sizes and strides are in bytes; they
/// and the addresses are multiples of 16. `rows` times `row_bytes` is below 2^36.
struct Rows {
  void* to = nullptr;
  const void* from = nullptr;
  std::int64_t row_bytes = 0;
  std::int64_t rows = 1;
  std::int64_t stride = 0;  ///< of rows of `to`
  int blocks = 1;           ///< of so many rows each
  std::int64_t to_block = 0;
  std::int64_t from_block = 0;
};

/// However many SMs become free: each CTA is one of several that its SM does.
inline constexpr int kCtasOfAnySms = 1024;

/// Copies within the GPU, on up to `ctas` CTAs (one a block at least) of 1024 threads without
/// shared memory: they take what SMs a GEMM leaves, and all once it has ended. A copy by the driver
/// may wait for that end.
void move(cudaStream_t stream, const Rows& rows, int ctas = kCtasOfAnySms);

}  // namespace overlaptune::kernels
