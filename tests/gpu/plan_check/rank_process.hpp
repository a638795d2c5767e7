#pragma once
// One process for each GPU of this host, started by fork before any of them has called CUDA.

#include <atomic>
#include <functional>
#include <nccl.h>

namespace overlaptune::plan_check {

/// The process of one rank, and the parts that it shares with the others.
class RankProcess {
 public:
  RankProcess(int rank, int ranks, int from_first, int to_others, std::atomic<int>* steps)
      : rank_(rank), ranks_(ranks), from_first_(from_first), to_others_(to_others), steps_(steps) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// A communicator of all ranks, on the GPU of this one. Throws `Failure`.
  [[nodiscard]] ncclComm_t join() const;
  /// Tells the parent that this process makes progress.
  void step() const { ++*steps_; }

 private:
  int rank_;
  int ranks_;
  int from_first_;
  int to_others_;
  std::atomic<int>* steps_;
};

/// The number of GPUs that CUDA sees, up to 8. A process of its own asks.
[[nodiscard]] int gpu_count();

/// Runs `body` in `ranks` processes. Returns the largest exit code; 1 where a process was killed by
/// a signal, or by the parent, because no process had made a step for a minute.
[[nodiscard]] int run_ranks(int ranks, const std::function<int(const RankProcess&)>& body);

}  // namespace overlaptune::plan_check
