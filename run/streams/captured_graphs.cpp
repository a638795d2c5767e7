#include "run/streams/captured_graphs.hpp"

#include <thread>

#include "run/check.hpp"

namespace overlaptune::run {
namespace {

using Count = std::shared_ptr<std::atomic<int>>;

/// CUDA calls this, on a thread of its own, when the last graph that has the object is destroyed.
void CUDART_CB graph_ended(void* held) {
  const std::unique_ptr<Count> count(static_cast<Count*>(held));
  --**count;
}

}  // namespace

bool CapturedGraphs::note(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  OVT_CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph));
  if (status != cudaStreamCaptureStatusActive) return false;
  auto held = std::make_unique<Count>(count_);
  cudaUserObject_t object = nullptr;
  OVT_CHECK(
      cudaUserObjectCreate(&object, held.get(), graph_ended, 1, cudaUserObjectNoDestructorSync));
  ++*count_;
  static_cast<void>(held.release());  // the object owns it
  const cudaError_t retained = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
  if (retained != cudaSuccess) static_cast<void>(cudaUserObjectRelease(object, 1));
  OVT_CHECK(retained);
  return true;
}

int CapturedGraphs::lasting(std::chrono::milliseconds patience) const {
  constexpr std::chrono::milliseconds kPause{1};
  const auto end = std::chrono::steady_clock::now() + patience;
  while (*count_ > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kPause);
  }
  return *count_;
}

}  // namespace overlaptune::run
