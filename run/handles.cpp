#include "run/handles.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace overlaptune::run {

Stream make_stream(Priority priority) {
  int least = 0;
  int greatest = 0;
  OVT_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream = nullptr;
  OVT_CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                         priority == Priority::high ? greatest : least));
  return Stream(stream);
}

Event make_event(bool timed) {
  cudaEvent_t event = nullptr;
  OVT_CHECK(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming));
  return Event(event);
}

DeviceMemory device_memory(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t made = cudaMalloc(&memory, bytes);
  if (made == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    constexpr double kMib = 1 << 20;
    throw Failure(
        ErrorKind::out_of_memory,
        fmt::format("cudaMalloc: {:.2f} MiB of GPU memory are not free in one piece: give "
                    "memory of this GPU back and try again",
                    static_cast<double>(bytes) / kMib));
  }
  check(made, "cudaMalloc", __FILE__, __LINE__);
  return DeviceMemory(memory);
}

HostMemory host_memory(std::size_t bytes) {
  void* memory = nullptr;
  OVT_CHECK(cudaMallocHost(&memory, bytes));
  return HostMemory(memory);
}

GraphExec instantiated(const Graph& graph) {
  cudaGraphExec_t exec = nullptr;
  OVT_CHECK(cudaGraphInstantiate(&exec, graph.get(), cudaGraphInstantiateFlagUseNodePriority));
  return GraphExec(exec);
}

}  // namespace overlaptune::run
