#pragma once
// Waits with a time limit: work that takes part in a collective may wait for a rank that never
// comes.

#include <chrono>
#include <cuda_runtime_api.h>
#include <functional>
#include <nccl.h>

namespace overlaptune::run {

/// Waits until `ended()`, with pauses that leave the processor to others. Throws `Failure`
/// (`machine_unavailable`) when `limit` has passed. `what`: the name of the awaited work, for the
/// message.
void wait_until(const std::function<bool()>& ended, std::chrono::milliseconds limit,
                const char* what);

/// Whether all work on the stream, or before the event, has ended. Throws `Failure` for an error of
/// the GPU.
[[nodiscard]] bool has_ended(cudaStream_t stream);
[[nodiscard]] bool has_ended(cudaEvent_t event);

/// Waits until the last call on a communicator has ended, for communicators whose calls do not
/// block. Throws `Failure` (`machine_unavailable`) for its error, or when `limit` has passed.
void finish(ncclComm_t comm, std::chrono::milliseconds limit, const char* what);

}  // namespace overlaptune::run
