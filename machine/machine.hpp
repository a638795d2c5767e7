#pragma once
// The interface to something that can run probes and configs: real GPUs, or a simulation of them.

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/activity.hpp"
#include "core/capabilities.hpp"
#include "core/config/candidate.hpp"
#include "core/config/config.hpp"
#include "core/config/phase.hpp"
#include "core/config/tiling.hpp"
#include "core/measurement.hpp"
#include "core/platform.hpp"
#include "core/timeline.hpp"

namespace overlaptune {

struct RunOptions {
  Launch launch = Launch::graph;
  int repetitions = 9;
  bool timeline = false;
  /// Spreads the repetitions over about a second: at the power limit a GPU's clock swings by
  /// several percent within tenths of a second.
  bool spread = false;
  RunPhase phase = RunPhase::steady;  ///< with another one, `spread` and `timeline` are off
  /// The operands lie where a caller has them. One that the ranks exchange in memory which all of
  /// them reach is moved from or to there in the timed run. (Without it they lie in such memory.)
  bool own_memory = false;
  /// Predicted time of each config; the time-outs follow from it. Empty: unknown.
  std::vector<Microseconds> expected{};
};

struct RunResult {
  Verdict verdict = Verdict::valid;
  std::string reason{};  ///< why the config is not valid, in one line; empty for `valid`
  /// Time of repetition i on rank r: `rank_times[r][i]`. Empty if nothing could be timed.
  std::vector<std::vector<Microseconds>> rank_times{};
  std::optional<Timeline> timeline{};
  Conditions conditions{};
  /// Times of the problem's plain GEMM and of its single collective in the same rounds, on the
  /// slowest rank of each repetition. Empty if the machine does not measure them.
  std::vector<Microseconds> gemm_alone{};
  std::vector<Microseconds> collective_alone{};
  /// Activities of the GPUs, if `timeline` was asked for and the machine can record them.
  std::vector<Activity> activities{};
};

/// The time of the slowest rank in each repetition.
[[nodiscard]] inline std::vector<Microseconds> slowest_rank(const RunResult& result) {
  std::vector<Microseconds> slowest;
  for (const auto& times : result.rank_times) {
    slowest.resize(std::max(slowest.size(), times.size()));
    for (std::size_t i = 0; i < times.size(); ++i) slowest[i] = std::max(slowest[i], times[i]);
  }
  return slowest;
}

class Machine {
 public:
  virtual ~Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] virtual const Platform& platform() const = 0;

  /// The abilities of this machine. Transport `ring` and strategy `sequential` are always among
  /// them.
  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;
  [[nodiscard]] std::vector<Transport> transports() const { return transports_of(capabilities()); }
  [[nodiscard]] std::vector<Strategy> strategies() const { return strategies_of(capabilities()); }

  /// Compiles the kernels that `measure` and `run` are going to need, all at once. Nothing is
  /// timed. A kernel that cannot be compiled is reported when it is needed. Error: the machine is
  /// lost.
  [[nodiscard]] virtual Expected<void> prepare(std::span<const TiledKernel> /*kernels*/) {
    return {};
  }

  /// Measures one point: warms up, repeats until the spread is small, and takes the slowest rank of
  /// each repetition. Error: `bad_input` for a probe that this machine cannot do (too many ranks,
  /// too much memory, an infeasible tile), which is skipped; `machine_unavailable` when the machine
  /// is lost.
  [[nodiscard]] virtual Expected<Measurement> measure(const Probe& probe) = 0;

  /// Checks and times configs of one problem, one repetition of each in turn, so that they can be
  /// compared in pairs. Returns one result for each config, in the same order; a config that fails
  /// does not affect the others. Error: `bad_input` where the problem does not fit (ranks, memory),
  /// or the machine cannot bring about this phase; or the machine is lost.
  [[nodiscard]] virtual Expected<std::vector<RunResult>> run(const Problem& problem,
                                                             std::span<const Config> configs,
                                                             const RunOptions& options) = 0;

 protected:
  Machine() = default;
};

}  // namespace overlaptune
