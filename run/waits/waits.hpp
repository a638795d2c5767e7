#pragma once
// The waits of a world's kernels: their time limit, and what ended them.

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/rank_barrier.hpp"
#include "run/handles.hpp"

namespace overlaptune::run {

/// Every wait of a kernel for other ranks has the same limit. The first one that takes longer ends
/// all waits of this rank, and those of its peers; kernels then end without a result. Host and GPU
/// tell each other by memory that both see, so no stream is needed.
class Waits {
 public:
  explicit Waits(std::chrono::milliseconds limit);

  /// For kernels: the address on the GPU.
  [[nodiscard]] kernels::WaitControl* control() const { return on_gpu_; }

  /// Gives a plan a number, by which kernels name it. `text`: its problem and config.
  [[nodiscard]] int number_of(std::string text);
  /// The plan that is being made or enqueued. `work`: a number that ranks have in common where
  /// their plans and rows are the same, and else most likely not.
  void set_plan(int number, std::uint32_t work) {
    plan_ = number;
    work_ = work;
  }
  [[nodiscard]] int plan() const { return plan_; }
  [[nodiscard]] std::uint32_t work() const { return work_; }

  /// Ends all waits. Any thread may call it, at any time.
  void abort();
  /// The sentence that says what ended the waits; none as long as they go on. Any thread may call
  /// it.
  [[nodiscard]] std::optional<std::string> failure() const;
  /// Whether that was the word of another rank. Any thread may ask.
  [[nodiscard]] bool was_told() const;
  /// Waits wait again. No kernel of the world may run.
  void revive();

 private:
  Handle<void*, &cudaFreeHost> memory_{};
  volatile kernels::WaitControl* control_ = nullptr;
  kernels::WaitControl* on_gpu_ = nullptr;
  int plan_ = 0;
  std::uint32_t work_ = 0;
  mutable std::mutex mutex_{};
  std::vector<std::string> plans_{"a collective"};
};

}  // namespace overlaptune::run
