#pragma once
// Owners of CUDA handles. They can be moved but not copied. The destructor gives the handle back
// and ignores errors.

#include <cstddef>
#include <memory>
#include <utility>

#include "run/check.hpp"

namespace overlaptune::run {

/// A handle of type T that `destroy` gives back.
template <class T, auto destroy>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T value) : value_(value) {}
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Handle() {
    if (value_ != T{}) static_cast<void>(destroy(value_));
  }
  [[nodiscard]] T get() const { return value_; }
  /// Forgets the handle without giving it back.
  void leak() { value_ = T{}; }
  [[nodiscard]] explicit operator bool() const { return value_ != T{}; }

 private:
  T value_{};
};

using Stream = Handle<cudaStream_t, &cudaStreamDestroy>;
using Event = Handle<cudaEvent_t, &cudaEventDestroy>;
using Graph = Handle<cudaGraph_t, &cudaGraphDestroy>;
using GraphExec = Handle<cudaGraphExec_t, &cudaGraphExecDestroy>;
using DeviceMemory = Handle<void*, static_cast<cudaError_t (*)(void*)>(&cudaFree)>;
using HostMemory = Handle<void*, &cudaFreeHost>;
using NcclMemory = Handle<void*, &ncclMemFree>;

enum class Priority { normal, high };

[[nodiscard]] Stream make_stream(Priority priority = Priority::normal);
/// `timed`: the event's time can be read.
[[nodiscard]] Event make_event(bool timed);
/// Throws `Failure` (`out_of_memory`) where so much is not free.
[[nodiscard]] DeviceMemory device_memory(std::size_t bytes);
/// Host memory that copies reach without the host. A copy to other memory of the host keeps its
/// thread until all work before it has ended, however long that takes.
[[nodiscard]] HostMemory host_memory(std::size_t bytes);

/// A graph of the work that `submit(stream)` enqueues. The capture also ends where that throws.
template <class Submit>
[[nodiscard]] Graph captured(cudaStream_t stream, Submit&& submit) {
  OVT_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    submit(stream);
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream, &graph));
    const Graph lost(graph);
    static_cast<void>(cudaGetLastError());
    throw;
  }
  OVT_CHECK(cudaStreamEndCapture(stream, &graph));
  return Graph(graph);
}

[[nodiscard]] GraphExec instantiated(const Graph& graph);

}  // namespace overlaptune::run
