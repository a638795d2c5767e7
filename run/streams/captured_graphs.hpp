#pragma once
// The CUDA graphs that hold plans of a world. Their nodes have addresses of the world's memory, and
// NCCL ends a communicator only once no graph holds it any more.

#include <atomic>
#include <chrono>
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
  [[nodiscard]] int alive() const { return lasting(std::chrono::seconds(2)); }

  /// `alive` for a question that comes again and again: a number that has lasted before is
  /// returned after a fifth of a second.
  [[nodiscard]] int still_alive() {
    constexpr std::chrono::milliseconds kAgain{200};
    return lasted_ = known() == lasted_ ? lasting(kAgain) : alive();
  }

  /// The graphs of whose end CUDA has not told yet. Does not wait.
  [[nodiscard]] int known() const { return *count_; }

 private:
  [[nodiscard]] int lasting(std::chrono::milliseconds patience) const;

  /// Shared with the graphs, which may outlive this object.
  std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
  int lasted_ = 0;  ///< the last answer of `still_alive`
};

/// The graph that `stream` is being captured into holds the block of results in which C lies, if it
/// lies in one, until it is destroyed with all that was instantiated from it.
void hold_in_graph(cudaStream_t stream, const void* c);

}  // namespace overlaptune::run
