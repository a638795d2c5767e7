#pragma once
// The gate: a kernel before a plan's kernels, which ends when all ranks have reached the plan.

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

}  // namespace overlaptune::kernels
