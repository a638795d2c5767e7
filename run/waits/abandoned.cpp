#include "run/waits/abandoned.hpp"

#include <future>
#include <thread>
#include <utility>

namespace overlaptune::run {
namespace {

/// Shared by the threads. The last one to let go gives it back.
struct Remains {
  Abandoned parts{};
  std::promise<void> done{};

  Remains() = default;
  Remains(const Remains&) = delete;
  Remains& operator=(const Remains&) = delete;
  ~Remains() {
    parts.scratch = {};  // waits for the work of this GPU, as every cudaFree does
    parts.host = {};
    parts.mapping.clear();
    parts.memory.reset();
    parts.results.reset();
    done.set_value();
  }
};

/// Work on a thread of its own, which no capture elsewhere in the process is disturbed by.
template <class Work>
void start(int device, Work work) {
  std::thread([device, work = std::move(work)]() mutable {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
    static_cast<void>(cudaSetDevice(device));
    work();
  }).detach();
}

}  // namespace

bool waited_until_idle() {
  // Not cudaDeviceSynchronize: that spoils captures of other threads.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
  constexpr std::size_t kAny = std::size_t{2} << 20;
  void* memory = nullptr;
  const bool has_memory = cudaMalloc(&memory, kAny) == cudaSuccess;
  const bool idle = (has_memory ? cudaFree(memory) : cudaDeviceSynchronize()) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
  return idle;
}

std::shared_ptr<std::shared_ptr<void>> kept_until_idle(std::shared_ptr<void> memory) {
  int device = 0;
  static_cast<void>(cudaGetDevice(&device));
  const auto let_go = [device](std::shared_ptr<void>* held) {
    if (!*held) return delete held;
    try {
      start(device, [held] {
        if (waited_until_idle()) delete held;
      });
    } catch (const std::exception&) {  // no thread: the memory stays
    }
  };
  return std::shared_ptr<std::shared_ptr<void>>(new std::shared_ptr<void>(std::move(memory)),
                                                let_go);
}

void abandon(Abandoned what, std::chrono::milliseconds limit) {
  int device = 0;
  static_cast<void>(cudaGetDevice(&device));
  std::vector<Comm> comms = std::exchange(what.comms, {});
  auto remains = std::make_shared<Remains>();
  remains->parts = std::move(what);
  const std::future<void> end = remains->done.get_future();
  // A thread for each, because a communicator that a graph holds must not keep the others waiting.
  for (Comm& each : comms) {
    start(device, [comm = std::move(each), remains]() mutable {
      { const Comm ending = std::move(comm); }
      remains.reset();
    });
  }
  // Not on the caller's thread, which waits no longer than the limit.
  start(device, [last = std::move(remains)]() mutable { last.reset(); });
  static_cast<void>(end.wait_for(limit));
}

}  // namespace overlaptune::run
