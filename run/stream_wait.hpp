#pragma once
// Waits of a stream on memory, which no kernel and no copy engine takes part in.

#include <cstdint>
#include <cuda_runtime_api.h>

namespace overlaptune::run {

/// Whether the driver and the GPU know how.
[[nodiscard]] bool can_wait_for_value();

/// What comes on the stream later starts once `*address` (device memory) is at least `value`, as an
/// unsigned number. It may be captured. Throws `Failure` where `can_wait_for_value` is false.
void wait_for_value(cudaStream_t stream, const std::uint32_t* address, std::uint32_t value);

}  // namespace overlaptune::run
