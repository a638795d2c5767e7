#pragma once
// Device code of exchanges by copy engines: where the peers' memory is, and sums of what arrived.
// Every function enqueues and returns.

#include <cstdint>
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "core/problem.hpp"

namespace overlaptune::kernels {

/// Ranks of the communicator in this one's NVLink domain, itself included.
[[nodiscard]] int ranks_in_reach(ncclComm_t communicator);

/// `addresses[r]` (device memory) becomes the address here of the first byte of rank r's window,
/// for `ranks` ranks of one NVLink domain.
void window_addresses(cudaStream_t stream, ncclWindow_t window, int ranks, void** addresses);

/// `sum` = `own` + the `count` parts at `arrived`, each of `elements` elements (a multiple of 8),
/// `stride` apart: added in fp32 in this order, rounded once. All addresses are multiples of 16
/// bytes; `sum` may be `own`. On `ctas` CTAs of 1024 threads, one an SM, without shared memory;
/// fastest for 2, 4 and 8 parts in all.
struct Addends {
  const void* own = nullptr;
  const void* arrived = nullptr;
  int count = 0;
  std::int64_t stride = 0;
  std::int64_t elements = 0;
};
void add(cudaStream_t stream, void* sum, const Addends& addends, Dtype dtype, int ctas);

}  // namespace overlaptune::kernels
