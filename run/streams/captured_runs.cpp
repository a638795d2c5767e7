#include "run/streams/captured_runs.hpp"

#include <algorithm>
#include <span>

namespace overlaptune::run {
namespace {

/// Captures of one GPU that are remembered. The end of a capture is not told, and more than these
/// are hardly under way at a time.
constexpr std::size_t kMostCaptures = 16;

/// The nodes behind which the next work of a captured stream comes, with the kinds of their edges.
struct Ends {
  std::span<const cudaGraphNode_t> nodes{};
  const cudaGraphEdgeData* edges = nullptr;  ///< null: all are of the usual kind
};

// The names of these functions had other parameters before CUDA 13.

Ends ends_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  std::size_t count = 0;
#if CUDART_VERSION >= 13000
  OVT_CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, &edges, &count));
#else
  OVT_CHECK(cudaStreamGetCaptureInfo_v3(stream, &status, nullptr, nullptr, &nodes, &edges, &count));
#endif
  return {{nodes, count}, edges};
}

void add_end(cudaStream_t stream, cudaGraphNode_t node, const cudaGraphEdgeData& edge) {
#if CUDART_VERSION >= 13000
  OVT_CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, &edge, 1,
                                                cudaStreamAddCaptureDependencies));
#else
  OVT_CHECK(cudaStreamUpdateCaptureDependencies_v2(stream, &node, &edge, 1,
                                                   cudaStreamAddCaptureDependencies));
#endif
}

}  // namespace

unsigned long long CapturedRuns::capture_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  unsigned long long capture = 0;
  OVT_CHECK(cudaStreamGetCaptureInfo(stream, &status, &capture));
  return status == cudaStreamCaptureStatusActive ? capture : 0;
}

// Nodes and not events: with events that were recorded in the capture, and streams told apart by
// `cudaStreamGetId`, every capture was invalidated (CUDA 13.0, driver 580); which of the two did it
// was not found out.

void CapturedRuns::begin(unsigned long long capture, cudaStream_t stream) {
  const auto last = std::ranges::find(last_, capture, &Last::capture);
  // While a capture is under way, no other stream of it has the same handle, but for the one handle
  // of all threads' own streams.
  if (last == last_.end() || (last->stream == stream && stream != cudaStreamPerThread)) return;
  const Ends own = ends_of(stream);
  const std::vector<cudaGraphNode_t> known(own.nodes.begin(), own.nodes.end());
  for (std::size_t i = 0; i < last->end.size(); ++i) {
    if (std::ranges::find(known, last->end[i]) != known.end()) continue;
    add_end(stream, last->end[i], last->edges[i]);
  }
}

void CapturedRuns::note(unsigned long long capture, cudaStream_t stream) {
  auto last = std::ranges::find(last_, capture, &Last::capture);
  if (last == last_.end()) {
    if (last_.size() == kMostCaptures) last_.erase(last_.begin());
    last = last_.insert(last_.end(), Last{.capture = capture});
  }
  const Ends ends = ends_of(stream);
  last->stream = stream;
  last->end.assign(ends.nodes.begin(), ends.nodes.end());
  last->edges.assign(last->end.size(), cudaGraphEdgeData{});
  if (ends.edges != nullptr) last->edges.assign(ends.edges, ends.edges + last->end.size());
}

}  // namespace overlaptune::run
