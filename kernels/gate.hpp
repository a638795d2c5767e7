#pragma once
// Kernels of one warp that let a stream wait, with the time limit of all waits: the gate, before a
// plan's kernels, which ends when all ranks have reached the plan; and waits on memory.

#include <cstdint>
#include <cuda_runtime_api.h>

#include "kernels/rank_barrier.hpp"

namespace overlaptune::kernels {

/// The gate's effect on the words that the plan's kernels count in.
enum class Counters {
  reset,  ///< all: the run before this one has ended on this rank
  keep,   ///< none: work of this run is counting already
};

/// The work directly before a launch on its stream.
enum class Before {
  work,  ///< any: it has to end before the launch starts
  gate,  ///< the launch starts as soon as the gate lets it
};

/// Enqueues a gate: one warp without shared memory and with at most 32 registers a thread, so that
/// an SM takes it beside a GEMM. It tells the peers that this rank has reached its next run, and
/// waits until they have told so. All earlier work of the stream has ended then, here and on the
/// peers. With `RankBarrier::place` it tells them this too, and waits for theirs. It may be
/// captured. Returns the status of the launch.
[[nodiscard]] cudaError_t gate(cudaStream_t stream, const RankBarrier& barrier, Counters counters);

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
