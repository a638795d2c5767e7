#include "run/captured_runs.hpp"

#include <algorithm>

namespace overlaptune::run {
namespace {

/// Captures of one GPU that are remembered. The end of a capture is not told, and more than these
/// are hardly under way at a time.
constexpr std::size_t kMostCaptures = 16;

}  // namespace

unsigned long long CapturedRuns::capture_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  unsigned long long capture = 0;
  OVT_CHECK(cudaStreamGetCaptureInfo(stream, &status, &capture));
  return status == cudaStreamCaptureStatusActive ? capture : 0;
}

// Nodes and not events: an event is an object of the library's, which a capture that is not ours
// would have to keep, and to ask a stream for its number ends its capture.

void CapturedRuns::begin(unsigned long long capture, cudaStream_t stream) {
  const auto last = std::ranges::find(last_, capture, &Last::capture);
  // While a capture is under way, no other stream of it has the same handle, but for the one handle
  // of all threads' own streams.
  if (last == last_.end() || (last->stream == stream && stream != cudaStreamPerThread)) return;
  OVT_CHECK(cudaStreamUpdateCaptureDependencies(stream, last->end.data(), last->edges.data(),
                                                last->end.size(),
                                                cudaStreamAddCaptureDependencies));
}

void CapturedRuns::note(unsigned long long capture, cudaStream_t stream) {
  auto last = std::ranges::find(last_, capture, &Last::capture);
  if (last == last_.end()) {
    if (last_.size() == kMostCaptures) last_.erase(last_.begin());
    last = last_.insert(last_.end(), Last{.capture = capture});
  }
  cudaStreamCaptureStatus status{};
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  OVT_CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, &edges, &count));
  last->stream = stream;
  last->end.assign(nodes, nodes + count);
  last->edges.assign(count, cudaGraphEdgeData{});
  if (edges != nullptr) last->edges.assign(edges, edges + count);
}

}  // namespace overlaptune::run
