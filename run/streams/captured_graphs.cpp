#include "run/streams/captured_graphs.hpp"

#include "core/base/patience.hpp"
#include "run/check.hpp"
#include "run/memory/result_memory.hpp"

namespace overlaptune::run {
namespace {

using Count = std::shared_ptr<std::atomic<int>>;

/// CUDA calls this, on a thread of its own, when the last graph that has the object is destroyed.
void CUDART_CB graph_ended(void* held) {
  const std::unique_ptr<Count> count(static_cast<Count*>(held));
  --**count;
}

void CUDART_CB result_ended(void* block) {
  static_cast<void>(ResultMemory::give(block));
}

/// The graph that a stream is being captured into; null: it is not being captured.
cudaGraph_t graph_of(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  OVT_CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph));
  return status == cudaStreamCaptureStatusActive ? graph : nullptr;
}

/// Calls `end` with `held` when a graph, and all that was instantiated from it, is destroyed; or at
/// once, where it throws.
void retain(cudaGraph_t graph, cudaHostFn_t end, void* held) {
  cudaUserObject_t object = nullptr;
  if (const cudaError_t made =
          cudaUserObjectCreate(&object, held, end, 1, cudaUserObjectNoDestructorSync);
      made != cudaSuccess) {
    end(held);
    OVT_CHECK(made);
  }
  const cudaError_t retained = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
  if (retained != cudaSuccess) static_cast<void>(cudaUserObjectRelease(object, 1));
  OVT_CHECK(retained);
}

}  // namespace

bool CapturedGraphs::note(cudaStream_t stream) {
  const cudaGraph_t graph = graph_of(stream);
  if (graph == nullptr) return false;
  ++*count_;  // first: the graph may end at once
  retain(graph, graph_ended, new Count(count_));
  return true;
}

void hold_in_graph(cudaStream_t stream, const void* c) {
  if (void* const block = ResultMemory::hold(c)) retain(graph_of(stream), result_ended, block);
}

int CapturedGraphs::lasting(std::chrono::milliseconds patience) const {
  constexpr std::chrono::milliseconds kPause{1};
  static_cast<void>(comes_true([&] { return *count_ <= 0; }, patience, kPause));
  return *count_;
}

}  // namespace overlaptune::run
