#pragma once
// The runs whose results are checked: runs one by one before a config is timed, and replays that
// follow one another at once after that.

#include <chrono>
#include <string>

#include "kernels/deviation.hpp"

namespace overlaptune::cuda {

using Seconds = std::chrono::duration<double>;

/// A config whose results can be checked. All ranks make the same calls.
class CheckedConfig {
 public:
  virtual ~CheckedConfig() = default;
  CheckedConfig(const CheckedConfig&) = delete;
  CheckedConfig& operator=(const CheckedConfig&) = delete;

  /// Number of operand sets. Each has inputs, a result and a reference of its own.
  [[nodiscard]] virtual int sets() const = 0;
  /// Enqueues a write of NaN to all memory that a run on this set writes.
  virtual void poison(int set) = 0;
  /// Enqueues a wait of every rank for all others.
  virtual void meet() = 0;
  /// Enqueues a pause on the last rank only.
  virtual void delay_last_rank(std::chrono::nanoseconds pause) = 0;
  /// Enqueues one run.
  virtual void run(int set) = 0;
  /// Waits until all that is enqueued has ended. Returns false if it did not end by itself in time
  /// on every rank.
  [[nodiscard]] virtual bool ends() = 0;
  /// Enqueues a comparison of this rank's result of this set with its reference.
  virtual void compare(int set) = 0;
  /// The error that the comparisons since the last call found; the largest of all ranks.
  [[nodiscard]] virtual kernels::Deviation deviation() = 0;

 protected:
  CheckedConfig() = default;
};

struct CheckedRuns {
  kernels::Deviation worst{};
  bool ended = true;  ///< each run ended in time, on all ranks
  Seconds last{};     ///< time of the last run and its comparison, by `check_runs` only
};

/// Checks runs one by one: at least two, and one on each operand set.
[[nodiscard]] CheckedRuns check_runs(CheckedConfig& config);

/// Checks a thousand runs, each of two executions in a row. Before each execution the last rank
/// waits for up to a few times what a run takes.
[[nodiscard]] CheckedRuns check_delayed_runs(CheckedConfig& config);

/// Checks replays that follow one another at once, on all operand sets in turn. To be called where
/// runs have gone before, after which a signal or a buffer may be in a state that a first run does
/// not meet. One result is compared right behind its run while the last rank has not begun: a run
/// that ends without the data of that rank is found.
[[nodiscard]] CheckedRuns check_replays(CheckedConfig& config);

/// The reason why a result is wrong; empty if it is correct.
[[nodiscard]] std::string complaint(const kernels::Deviation& seen, double allowed);

}  // namespace overlaptune::cuda
