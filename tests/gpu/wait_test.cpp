#include <chrono>
#include <thread>

#include "gpu.hpp"
#include "ranks_on_one_gpu.hpp"
#include "run/streams/stream_wait.hpp"

namespace overlaptune::run {
namespace {

using StreamWait = GpuTest;

/// The wait by the driver and by a kernel, eager and captured into a graph.
TEST_F(StreamWait, what_comes_later_starts_when_the_value_is_there_and_not_before) {
  const DeviceMemory memory = device_memory(sizeof(std::uint32_t));
  auto* const word = static_cast<std::uint32_t*>(memory.get());
  const RanksOnOneGpu ranks(1);
  const Stream waiting = make_stream();
  const Event passed = make_event(false);
  const auto write = [&](int byte) {
    OVT_CHECK(cudaMemsetAsync(word, byte, sizeof *word, stream()));
    OVT_CHECK(cudaStreamSynchronize(stream()));
  };
  for (const Wait by : {Wait::driver, Wait::kernel}) {
    const auto wait = [&](cudaStream_t on) {
      wait_for_signal(on, ranks.barrier(0), {word, 0x02020202}, by);
    };
    const Graph graph = captured(waiting.get(), wait);
    const GraphExec replay = instantiated(graph);
    for (const bool in_graph : {false, true}) {
      write(1);
      if (in_graph) {
        OVT_CHECK(cudaGraphLaunch(replay.get(), waiting.get()));
      } else {
        wait(waiting.get());
      }
      OVT_CHECK(cudaEventRecord(passed.get(), waiting.get()));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(cudaEventQuery(passed.get()), cudaErrorNotReady);
      static_cast<void>(cudaGetLastError());
      write(2);
      OVT_CHECK(cudaEventSynchronize(passed.get()));
    }
  }
}

}  // namespace
}  // namespace overlaptune::run
