#pragma once
// A plan as it is launched, on the operand sets of a test problem.

#include <memory>
#include <optional>

#include "machine/worker/checked_runs.hpp"
#include "machine/worker/fault.hpp"
#include "machine/worker/test_problem.hpp"

namespace overlaptune::cuda {

/// A plan that is launched by a graph for each operand set, or eagerly, and whose results are
/// checked.
class Entry final : public CheckedConfig {
 public:
  /// `through_world`: as `run::goes_through_world` of its config. `patience`: time-out of its runs,
  /// for `ends`.
  Entry(Workbench& bench, TestProblem& problem, std::unique_ptr<run::Plan> plan, Launch launch,
        bool through_world, Seconds patience, const Fault& fault = {});

  /// Captures the graphs. Called again for a tracer, which must be open when graphs are made.
  void make_ready();

  /// Enqueues one run, on the sets in turn.
  void operator()(cudaStream_t stream, int turn);

  [[nodiscard]] int sets() const override { return problem_.sets(); }
  void poison(int set) override { problem_.poison(set); }
  void meet() override;
  void delay_last_rank(std::chrono::nanoseconds pause) override;
  void run(int set) override;
  /// Collective. Returns false if the runs ended only after a release of their waits for signals,
  /// which is repeated if several runs are under way. If a release does not help, the controller
  /// ends the worker.
  [[nodiscard]] bool ends() override;
  void compare(int set) override { problem_.compare(set, plan_->places_c()); }
  [[nodiscard]] kernels::Deviation deviation() override { return problem_.deviation(); }

 private:
  void submit(cudaStream_t stream, int set);

  Workbench& bench_;
  TestProblem& problem_;
  std::unique_ptr<run::Plan> plan_;
  Launch launch_;
  bool through_world_;
  Seconds patience_;
  Fault fault_;
  int under_way_ = 0;  ///< checked runs since the last wait for their end
  std::optional<Replay> replay_{};
};

}  // namespace overlaptune::cuda
