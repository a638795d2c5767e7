#pragma once
// A kernel that lets a stream wait on memory: for drivers that have no such operation, and with a
// time limit.

#include <cstdint>
#include <cuda_runtime_api.h>

namespace overlaptune::kernels {

/// Work that is enqueued on the stream later starts once `*address` (device memory) is at least
/// `value`, as unsigned numbers. One thread polls; it needs a free SM, or a small part of one.
/// After 5 minutes the wait ends in an error of the GPU. It may be captured. Throws nothing;
/// `cudaGetLastError` says whether it was launched.
void wait_for_value(cudaStream_t stream, const std::uint32_t* address, std::uint32_t value);

}  // namespace overlaptune::kernels
