#include "run/handles.hpp"

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
  OVT_CHECK(cudaMalloc(&memory, bytes));
  return DeviceMemory(memory);
}

GraphExec instantiated(const Graph& graph) {
  cudaGraphExec_t exec = nullptr;
  OVT_CHECK(cudaGraphInstantiate(&exec, graph.get(), cudaGraphInstantiateFlagUseNodePriority));
  return GraphExec(exec);
}

}  // namespace overlaptune::run
