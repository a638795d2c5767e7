#pragma once
// The CUDA graphs that hold plans of a world. Their nodes have addresses of the world's memory, and
// NCCL ends a communicator only once no graph holds it any more.

#include <atomic>
#include <cuda_runtime_api.h>
#include <memory>

namespace overlaptune::run {

class CapturedGraphs {
 public:
  /// If `stream` is being captured, counts its graph from now on until it is destroyed, with all
  /// that was instantiated from it. A graph counts as often as it is noted. Returns whether the
  /// stream is being captured.
  bool note(cudaStream_t stream);

  /// The graphs that are not destroyed yet. CUDA tells of a graph's end a little later, so a number
  /// other than 0 is returned only when it has lasted for two seconds.
  [[nodiscard]] int alive() const;

  /// The graphs of whose end CUDA has not told yet. Does not wait.
  [[nodiscard]] int known() const { return *count_; }

 private:
  /// Shared with the graphs, which may outlive this object.
  std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace overlaptune::run
