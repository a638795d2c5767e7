#include "run/streams/last_run.hpp"

namespace overlaptune::run {
namespace {

/// A number that no other stream of the process ever has, not even one at the same address.
unsigned long long number_of(cudaStream_t stream) {
  unsigned long long number = 0;
  OVT_CHECK(cudaStreamGetId(stream, &number));
  return number;
}

/// Whether the work before an event has ended, even while another stream of the process is captured
/// in a mode that forbids to ask.
bool has_ended(const Event& event) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
  const bool ended = cudaEventQuery(event.get()) == cudaSuccess;
  // Else this would be the last error of the caller's thread; an older one stays.
  if (!ended) static_cast<void>(cudaGetLastError());
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
  return ended;
}

}  // namespace

/// Runs end in their order. The last one stays: the next run begins after it.
void LastRun::forget_ended() {
  while (runs_.size() > 1 && (!runs_.front().noted || has_ended(runs_.front().end))) {
    spare_.push_back(std::move(runs_.front()));
    runs_.pop_front();
  }
}

// Calls that enqueue may block while the GPU is behind. The lock, which the watchdog takes, is not
// held meanwhile.

void LastRun::begin(cudaStream_t stream) {
  cudaEvent_t before = nullptr;
  Run next = [&] {
    const std::lock_guard lock(mutex_);
    forget_ended();
    if (!runs_.empty()) before = runs_.back().end.get();
    if (spare_.empty()) return Run{};
    Run spare = std::move(spare_.back());
    spare_.pop_back();
    return spare;
  }();
  if (before != nullptr && number_of(stream) != stream_) {
    OVT_CHECK(cudaStreamWaitEvent(stream, before, 0));
  }
  OVT_CHECK(cudaEventRecord(next.begin.get(), stream));
  next.number = ++count_;
  next.noted = false;
  const std::lock_guard lock(mutex_);
  runs_.push_back(std::move(next));
}

void LastRun::note(cudaStream_t stream) {
  Run& last = runs_.back();  // stays the last one until the next `begin`
  OVT_CHECK(cudaEventRecord(last.end.get(), stream));
  stream_ = number_of(stream);
  const std::lock_guard lock(mutex_);
  last.noted = true;
}

std::optional<std::uint64_t> LastRun::under_way() {
  const std::lock_guard lock(mutex_);
  forget_ended();
  if (runs_.empty()) return std::nullopt;
  const Run& oldest = runs_.front();
  if (!oldest.noted || !has_ended(oldest.begin) || has_ended(oldest.end)) return std::nullopt;
  return oldest.number;
}

cudaEvent_t LastRun::end() const {
  const std::lock_guard lock(mutex_);
  return runs_.empty() ? nullptr : runs_.back().end.get();
}

}  // namespace overlaptune::run
