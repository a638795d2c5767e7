#pragma once
// A simulated machine that counts its calls.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/catalogue.hpp"
#include "machine/machine.hpp"

namespace overlaptune {

/// Counts probes and runs of the machine underneath. It can be lost after some runs, refuse a
/// problem, and change the results of a second run (of each phase) or of its trace.
class CountingMachine : public Machine {
 public:
  explicit CountingMachine(std::string faults = {})
      : machine_(value_or_throw(
            open_machine("sim:h200-nvlink-x8", {.seed = 1, .faults = std::move(faults)}))) {}
  [[nodiscard]] const Platform& platform() const override { return machine_->platform(); }
  [[nodiscard]] const Capabilities& capabilities() const override {
    return machine_->capabilities();
  }
  [[nodiscard]] Expected<Measurement> measure(const Probe& probe) override {
    ++probes;
    return machine_->measure(probe);
  }
  [[nodiscard]] Expected<std::vector<RunResult>> run(const Problem& problem,
                                                     std::span<const Config> configs,
                                                     const RunOptions& options) override {
    if (++runs > lost_after) {
      return tl::make_unexpected(Error{ErrorKind::machine_unavailable, "the machine is lost"});
    }
    if (problem == too_large) return bad_input("no memory for it");
    auto results = machine_->run(problem, configs, options);
    const bool again = options.spread || options.phase != RunPhase::steady;
    // A machine of GPUs times GEMM and collective alone in the same rounds.
    (again ? timed_again : timed) += options.repetitions * (static_cast<int>(configs.size()) + 2);
    if (again && after_second_run) after_second_run(results);
    if (!options.timeline) return results;
    traces.push_back({{configs.begin(), configs.end()}, options});
    if (after_trace) after_trace(results);
    return results;
  }
  struct Trace {
    std::vector<Config> configs;  ///< `sequential` first
    RunOptions options;
  };
  std::vector<Trace> traces;
  std::function<void(Expected<std::vector<RunResult>>&)> after_trace;
  std::function<void(Expected<std::vector<RunResult>>&)> after_second_run;
  int probes = 0;
  int runs = 0;
  int timed = 0;        ///< timed executions, without those of second runs
  int timed_again = 0;  ///< those of second runs
  int lost_after = 1 << 30;
  std::optional<Problem> too_large;

 private:
  std::unique_ptr<Machine> machine_;
};

}  // namespace overlaptune
