#pragma once
// A stream's wait for memory as a kernel: for drivers that have no such operation, and with an end.

#include <cstdint>
#include <cuda_runtime_api.h>

namespace overlaptune::kernels {

/// What comes on the stream later starts once `*address` (device memory) is at least `value`, as an
/// unsigned number. One thread looks; it needs a free SM, or a little of one. After 5 minutes it
/// ends in an error of the GPU: nobody is going to wait any longer. It may be captured. Throws
/// nothing; whether it was launched, `cudaGetLastError` tells.
void wait_for_value(cudaStream_t stream, const std::uint32_t* address, std::uint32_t value);

}  // namespace overlaptune::kernels
