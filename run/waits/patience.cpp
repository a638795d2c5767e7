#include "run/waits/patience.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/patience.hpp"
#include "run/check.hpp"

namespace overlaptune::run {
namespace {

bool is_success(cudaError_t state) {
  if (state != cudaErrorNotReady) OVT_CHECK(state);
  return state == cudaSuccess;
}

}  // namespace

void wait_until(const std::function<bool()>& ended, std::chrono::milliseconds limit,
                const char* what) {
  if (comes_true(ended, limit, std::chrono::microseconds(100))) return;
  throw Failure(ErrorKind::machine_unavailable,
                fmt::format("{}: not ended after {} s: a rank did not come, or came with "
                            "another request; end the process",
                            what, static_cast<double>(limit.count()) / 1e3));
}

bool has_ended(cudaStream_t stream) {
  return is_success(cudaStreamQuery(stream));
}

bool has_ended(cudaEvent_t event) {
  return is_success(cudaEventQuery(event));
}

void finish(ncclComm_t comm, std::chrono::milliseconds limit, const char* what) {
  const auto ended = [comm] {
    ncclResult_t state = ncclSuccess;
    OVT_CHECK(ncclCommGetAsyncError(comm, &state));
    OVT_CHECK(state);
    return state != ncclInProgress;
  };
  wait_until(ended, limit, what);
}

}  // namespace overlaptune::run
