#pragma once
// Waits with a time limit: work that takes part in a collective may wait for a rank that never
// comes.

#include <chrono>
#include <cuda_runtime_api.h>
#include <nccl.h>

namespace overlaptune::run {

/// Waits until all work on the stream has ended. Throws `Failure` (`machine_unavailable`) for an
/// error of the GPU, or when `limit` has passed. `what`: the name of the awaited work, for the
/// message.
void finish(cudaStream_t stream, std::chrono::seconds limit, const char* what);

/// Waits until the last call on a communicator has ended, for communicators whose calls do not
/// block. Throws `Failure` likewise.
void finish(ncclComm_t comm, std::chrono::seconds limit, const char* what);

}  // namespace overlaptune::run
