#include "run/patience.hpp"

#include <thread>

#include <fmt/format.h>

#include "core/error.hpp"
#include "run/check.hpp"

namespace overlaptune::run {
namespace {

/// Polls until the work has ended, with pauses that leave the processor to others.
template <class Ended>
void wait_until(const Ended& ended, std::chrono::seconds limit, const char* what) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!ended()) {
    if (std::chrono::steady_clock::now() > deadline) {
      throw Failure(ErrorKind::machine_unavailable,
                    fmt::format("{}: not ended after {} s: a rank did not come, or came with "
                                "another request; end the process",
                                what, limit.count()));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace

void finish(cudaStream_t stream, std::chrono::seconds limit, const char* what) {
  const auto ended = [stream] {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) OVT_CHECK(state);
    return state == cudaSuccess;
  };
  wait_until(ended, limit, what);
}

void finish(ncclComm_t comm, std::chrono::seconds limit, const char* what) {
  const auto ended = [comm] {
    ncclResult_t state = ncclSuccess;
    OVT_CHECK(ncclCommGetAsyncError(comm, &state));
    OVT_CHECK(state);
    return state != ncclInProgress;
  };
  wait_until(ended, limit, what);
}

}  // namespace overlaptune::run
