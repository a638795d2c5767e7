#include "run/last_run.hpp"

namespace overlaptune::run {
namespace {

unsigned long long number_of(cudaStream_t stream) {
  unsigned long long number = 0;
  OVT_CHECK(cudaStreamGetId(stream, &number));
  return number;
}

}  // namespace

void LastRun::begin(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (end_ && number_of(stream) != stream_) {
    OVT_CHECK(cudaStreamWaitEvent(stream, end_.get(), 0));
  }
  if (!begin_) begin_ = make_event(false);
  OVT_CHECK(cudaEventRecord(begin_.get(), stream));
  noted_ = false;
  ++count_;
}

void LastRun::note(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (!end_) end_ = make_event(false);
  OVT_CHECK(cudaEventRecord(end_.get(), stream));
  stream_ = number_of(stream);
  noted_ = true;
}

std::optional<std::uint64_t> LastRun::under_way() const {
  const std::lock_guard lock(mutex_);
  if (!noted_ || cudaEventQuery(begin_.get()) != cudaSuccess ||
      cudaEventQuery(end_.get()) != cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return std::nullopt;
  }
  static_cast<void>(cudaGetLastError());
  return count_;
}

}  // namespace overlaptune::run
