#pragma once
// One process for each rank, started by fork before any of them has called CUDA.

#include <atomic>
#include <chrono>
#include <functional>
#include <nccl.h>

namespace overlaptune::plan_check {

/// Where the ranks run: the first ones on GPU 0, the next ones on GPU 1, and so on.
struct Placement {
  int gpus = 0;
  int ranks_per_gpu = 1;  ///< more: the ranks of a GPU run in turn, many times as slowly
  [[nodiscard]] int ranks() const { return gpus * ranks_per_gpu; }
  bool gives_memory = false;  ///< the world's memory is the caller's
  int nodes = 1;              ///< as many nodes of NCCL as the GPUs are divided into
  [[nodiscard]] int ranks_per_node() const { return ranks() / nodes; }
  [[nodiscard]] bool shares_gpus() const { return ranks_per_gpu > 1; }
  /// Time limit of a wait for the GPU or for another rank.
  [[nodiscard]] std::chrono::seconds patience() const {
    return std::chrono::seconds(shares_gpus() ? 300 : 60);
  }
};

/// The process of one rank, and the parts that it shares with the others.
class RankProcess {
 public:
  RankProcess(int rank, const Placement& placement, int from_first, int to_others,
              std::atomic<int>* steps)
      : rank_(rank),
        placement_(placement),
        from_first_(from_first),
        to_others_(to_others),
        steps_(steps) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return placement_.ranks(); }
  [[nodiscard]] int device() const { return rank_ / placement_.ranks_per_gpu; }
  [[nodiscard]] const Placement& placement() const { return placement_; }
  /// A communicator of all ranks, on the GPU of this one. Throws `Failure`.
  [[nodiscard]] ncclComm_t join() const;
  /// Tells the parent that this process makes progress.
  void step() const { ++*steps_; }

 private:
  int rank_;
  Placement placement_;
  int from_first_;
  int to_others_;
  std::atomic<int>* steps_;
};

/// The number of GPUs that CUDA sees, up to 8. A process of its own asks.
[[nodiscard]] int gpu_count();

/// Runs `body` in a process for each rank. Returns the largest exit code; 1 where a process was
/// killed by a signal, or by the parent, because no process had made a step for as long as the
/// placement's patience.
[[nodiscard]] int run_ranks(const Placement& placement,
                            const std::function<int(const RankProcess&)>& body);

}  // namespace overlaptune::plan_check
