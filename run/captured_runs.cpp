#include "run/captured_runs.hpp"

#include <algorithm>

namespace overlaptune::run {
namespace {

/// Captures of one GPU that are remembered. The end of a capture is not told, and more than these
/// are hardly under way at a time.
constexpr std::size_t kMostCaptures = 16;

}  // namespace

unsigned long long number_of(cudaStream_t stream) {
  unsigned long long number = 0;
  OVT_CHECK(cudaStreamGetId(stream, &number));
  return number;
}

unsigned long long CapturedRuns::capture_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  unsigned long long capture = 0;
  OVT_CHECK(cudaStreamGetCaptureInfo(stream, &status, &capture));
  return status == cudaStreamCaptureStatusActive ? capture : 0;
}

void CapturedRuns::begin(unsigned long long capture, cudaStream_t stream) {
  const auto last = std::ranges::find(last_, capture, &Last::capture);
  if (last == last_.end() || last->stream == number_of(stream)) return;
  OVT_CHECK(cudaStreamWaitEvent(stream, last->end.get(), 0));
}

void CapturedRuns::note(unsigned long long capture, cudaStream_t stream) {
  auto last = std::ranges::find(last_, capture, &Last::capture);
  if (last == last_.end()) {
    if (last_.size() == kMostCaptures) last_.erase(last_.begin());
    last = last_.insert(last_.end(), Last{.capture = capture});
  }
  OVT_CHECK(cudaEventRecord(last->end.get(), stream));
  last->stream = number_of(stream);
}

}  // namespace overlaptune::run
