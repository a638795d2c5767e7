#include "run/abandoned.hpp"

#include <future>
#include <thread>

namespace overlaptune::run {
namespace {

/// Shared by the threads. The last one to let go gives the memory back.
struct Remains {
  std::unique_ptr<PeerMemory> memory{};
  DeviceMemory scratch{};
  std::promise<void> done{};

  Remains() = default;
  Remains(const Remains&) = delete;
  Remains& operator=(const Remains&) = delete;
  ~Remains() {
    memory.reset();  // waits for the work of this GPU, as every cudaFree does
    scratch = {};
    done.set_value();
  }
};

}  // namespace

void abandon(Abandoned what, std::chrono::milliseconds limit) {
  int device = 0;
  static_cast<void>(cudaGetDevice(&device));
  auto remains = std::make_shared<Remains>();
  remains->memory = std::move(what.memory);
  remains->scratch = std::move(what.scratch);
  const std::future<void> end = remains->done.get_future();
  // A thread for each, because a communicator that a graph holds must not keep the others waiting.
  for (Comm& each : what.comms) {
    std::thread([comm = std::move(each), remains, device]() mutable {
      static_cast<void>(cudaSetDevice(device));
      { const Comm ending = std::move(comm); }
      remains.reset();
    }).detach();
  }
  remains.reset();
  static_cast<void>(end.wait_for(limit));
}

}  // namespace overlaptune::run
