#pragma once
// Waits that end: what takes part in a collective may wait for a rank that never comes.

#include <chrono>
#include <cuda_runtime_api.h>
#include <nccl.h>

namespace overlaptune::run {

/// Until all that is on the stream has ended. Throws `Failure` (machine_unavailable): an error of
/// the GPU, or `limit` has passed; `what` names what was waited for.
void finish(cudaStream_t stream, std::chrono::seconds limit, const char* what);

/// Until the last call on the communicator has ended, where that does not block. Throws `Failure`,
/// likewise.
void finish(ncclComm_t comm, std::chrono::seconds limit, const char* what);

}  // namespace overlaptune::run
