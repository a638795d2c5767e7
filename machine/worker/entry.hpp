#pragma once
// A plan as it is launched, on the operand sets of a test problem.

#include <chrono>
#include <memory>
#include <optional>

#include "machine/worker/test_problem.hpp"

namespace overlaptune::cuda {

/// A plan that is launched by a graph for each operand set, or eagerly.
class Entry {
 public:
  /// `through_world`: as `run::goes_through_world` of its config.
  Entry(Workbench& bench, const TestProblem& problem, std::unique_ptr<run::Plan> plan,
        Launch launch, bool through_world);

  /// Captures the graphs. Called again for a tracer, which must be open when graphs are made.
  void make_ready();

  /// Enqueues one run, on the sets in turn.
  void operator()(cudaStream_t stream, int turn);

  /// Whether C stays in the world's memory also where operands are laid apart: as the memory for
  /// results, all ranks reach it (`run::Plan::places_c`).
  [[nodiscard]] bool places_c() const { return plan_->places_c(); }

  /// Waits until the work on the world's stream has ended on all ranks. Collective. Returns false
  /// if it ended only after a release of its waits for signals, which is repeated if several runs
  /// are under way. If a release does not help, the controller ends the worker.
  [[nodiscard]] bool ends(std::chrono::duration<double> patience);

 private:
  void submit(cudaStream_t stream, int set);

  Workbench& bench_;
  const TestProblem& problem_;
  std::unique_ptr<run::Plan> plan_;
  Launch launch_;
  bool through_world_;
  std::optional<Replay> replay_{};
};

}  // namespace overlaptune::cuda
