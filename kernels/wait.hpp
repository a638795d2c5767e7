#pragma once
// Kernels that let a stream wait on memory, with the time limit of all waits.

#include <cstdint>
#include <cuda_runtime_api.h>

#include "kernels/rank_barrier.hpp"

namespace overlaptune::kernels {

/// Work that is enqueued on the stream later starts once this rank's counter `counter` is at least
/// `value`. One warp polls: it needs a small part of an SM. It may be captured. Returns the status
/// of the launch.
[[nodiscard]] cudaError_t wait_for_counter(cudaStream_t stream, const RankBarrier& barrier,
                                           const std::uint32_t* counter, std::uint32_t value);

/// Flags in this rank's memory: flag `row * stride + rank`, for `rows` rows and all ranks but this
/// one. Peers raise them to 1.
struct Flags {
  std::uint32_t* first = nullptr;
  int rows = 0;
  int stride = 0;
};

/// Work that is enqueued on the stream later starts once all flags are raised; then they are 0
/// again. Otherwise as above.
[[nodiscard]] cudaError_t wait_for_flags(cudaStream_t stream, const RankBarrier& barrier,
                                         const Flags& flags);

}  // namespace overlaptune::kernels
