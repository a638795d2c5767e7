// Copies between GPUs: every rank copies to its neighbour at the same time.

#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "kernels/support.hpp"
#include "machine/cuda/worker/probes.hpp"

namespace overlaptune::cuda {
namespace {

/// Memory of this rank, and the neighbour's memory opened here.
class Neighbour {
 public:
  Neighbour(run::World& world, std::size_t bytes) : own_(run::device_memory(bytes)) {
    cudaIpcMemHandle_t mine{};
    OVT_CHECK(cudaIpcGetMemHandle(&mine, own_.get()));
    const auto all = world.gathered(std::as_bytes(std::span(&mine, 1)));
    const int next = (world.rank() + 1) % world.ranks();
    cudaIpcMemHandle_t theirs{};
    std::memcpy(&theirs, all.data() + static_cast<std::size_t>(next) * sizeof theirs,
                sizeof theirs);
    opened_ = cudaIpcOpenMemHandle(&memory_, theirs, cudaIpcMemLazyEnablePeerAccess);
    if (opened_ != cudaSuccess) static_cast<void>(cudaGetLastError());
  }
  ~Neighbour() { close(); }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  /// Closes the neighbour's memory; to be done before its owner frees it.
  void close() {
    if (std::exchange(opened_, cudaErrorUnknown) == cudaSuccess) {
      static_cast<void>(cudaIpcCloseMemHandle(memory_));
    }
  }

  [[nodiscard]] bool opened() const { return opened_ == cudaSuccess; }
  [[nodiscard]] void* memory() const { return memory_; }

 private:
  run::DeviceMemory own_;
  void* memory_ = nullptr;
  cudaError_t opened_ = cudaErrorUnknown;
};

}  // namespace

Expected<Samples> measure_copy(Workbench& bench, const CopyProbe& probe) {
  run::World& world = bench.world;
  const auto bytes = static_cast<std::size_t>(probe.bytes.count) / 16 * 16;
  if (bytes == 0) return bad_input("copy: expected at least 16 bytes");
  const run::DeviceMemory from = run::device_memory(bytes);
  OVT_CHECK(cudaMemset(from.get(), 0x5a, bytes));
  Neighbour neighbour(world, bytes);
  const bool reachable = world.largest(neighbour.opened() ? 0 : 1) == 0;
  Samples samples;
  if (reachable) {
    const Task task = [&](cudaStream_t stream, int) {
      if (probe.ctas > 0) {
        kernels::copy_by_stores(stream, neighbour.memory(), from.get(),
                                static_cast<std::int64_t>(bytes), probe.ctas);
      } else {
        OVT_CHECK(cudaMemcpyAsync(neighbour.memory(), from.get(), bytes, cudaMemcpyDeviceToDevice,
                                  stream));
      }
    };
    static_cast<void>(bench.timer.rounds({task}, 2));
    Timed timed = bench.timer.until_quiet(task, 5, 20, us(10'000));
    samples = {.times = std::move(timed.times), .conditions = bench.conditions(timed)};
  }
  // No rank closes memory to which it still writes, and no rank frees memory that another one has
  // open.
  OVT_CHECK(cudaStreamSynchronize(world.stream()));
  neighbour.close();
  static_cast<void>(world.largest(0));
  if (!reachable) return bad_input("copy: these GPUs cannot reach each other's memory");
  return samples;
}

}  // namespace overlaptune::cuda
