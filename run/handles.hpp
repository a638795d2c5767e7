#pragma once
// Owners of CUDA's handles. Moved, never copied; what they hold is given back in the destructor,
// where errors no longer matter.

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
  /// It is not given back any more.
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
using NcclMemory = Handle<void*, &ncclMemFree>;

enum class Priority { normal, high };

[[nodiscard]] Stream make_stream(Priority priority = Priority::normal);
/// With `timed` its times can be read.
[[nodiscard]] Event make_event(bool timed);
[[nodiscard]] DeviceMemory device_memory(std::size_t bytes);

/// What `submit(stream)` enqueues, as a graph that is ready to be launched.
template <class Submit>
[[nodiscard]] Graph captured(cudaStream_t stream, Submit&& submit) {
  OVT_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  submit(stream);
  cudaGraph_t graph = nullptr;
  OVT_CHECK(cudaStreamEndCapture(stream, &graph));
  return Graph(graph);
}

[[nodiscard]] GraphExec instantiated(const Graph& graph);

}  // namespace overlaptune::run
