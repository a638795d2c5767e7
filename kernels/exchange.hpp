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

/// Copies 16-bit elements, a multiple of 8 and at addresses that are multiples of 16 bytes, within
/// the GPU: on up to `ctas` CTAs of 1024 threads without shared memory.
void move(cudaStream_t stream, void* to, const void* from, std::int64_t elements, int ctas);

}  // namespace overlaptune::kernels
