#pragma once
// The interface to something that can run probes and configs: real GPUs, or a simulation of them.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/activity.hpp"
#include "core/candidate.hpp"
#include "core/capabilities.hpp"
#include "core/config.hpp"
#include "core/measurement.hpp"
#include "core/platform.hpp"
#include "core/tiling.hpp"
#include "core/timeline.hpp"

namespace overlaptune {

struct RunOptions {
  Launch launch = Launch::graph;
  int repetitions = 9;
  bool timeline = false;
  /// The repetitions are spread over about a second: at the power limit a GPU's clock swings by
  /// several percent in tenths of one.
  bool spread = false;
  /// Predicted time of each config, from which the limits derive after which it counts as hung;
  /// empty: unknown.
  std::vector<Microseconds> expected{};
};

struct RunResult {
  Verdict verdict = Verdict::valid;
  std::string reason{};  ///< why it is not valid, in one line; empty for `valid`
  /// Time of repetition i on rank r: `rank_times[r][i]`. Empty where nothing could be timed.
  std::vector<std::vector<Microseconds>> rank_times{};
  std::optional<Timeline> timeline{};
  Conditions conditions{};
  /// The problem's plain GEMM and its single collective, timed in the same rounds, the slowest rank
  /// of each; empty where the machine does not tell.
  std::vector<Microseconds> gemm_alone{};
  std::vector<Microseconds> collective_alone{};
  /// What the GPUs were seen doing, if `timeline` was asked for and the machine can tell.
  std::vector<Activity> activities{};
};

/// Of each repetition the slowest rank.
[[nodiscard]] std::vector<Microseconds> slowest_rank(const RunResult& result);

class Machine {
 public:
  virtual ~Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] virtual const Platform& platform() const = 0;

  /// What can run here; transport `ring` and strategy `sequential` always can.
  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;
  [[nodiscard]] std::vector<Transport> transports() const { return transports_of(capabilities()); }
  [[nodiscard]] std::vector<Strategy> strategies() const { return strategies_of(capabilities()); }

  /// Makes ready, all at once and ahead of measuring, what `measure` and `run` are going to need.
  /// Nothing is timed; what cannot be made is told when it is needed. Error: the machine is lost.
  [[nodiscard]] virtual Expected<void> prepare(std::span<const TiledKernel> /*kernels*/) {
    return {};
  }

  /// Measures one point: warmed up, repeated until it is quiet, of each repetition the slowest
  /// rank. Error: `bad_input` for a probe that this machine cannot do (too many ranks, too much
  /// memory, an infeasible tile), which is skipped; `machine_unavailable` when the machine is lost.
  [[nodiscard]] virtual Expected<Measurement> measure(const Probe& probe) = 0;

  /// Checks and times configs of one problem, one repetition of each in turn, so that they can be
  /// compared pairwise. One result a config, in the same order; a config that fails costs itself
  /// only. Error: the problem does not fit (ranks, memory), or the machine is lost.
  [[nodiscard]] virtual Expected<std::vector<RunResult>> run(const Problem& problem,
                                                             std::span<const Config> configs,
                                                             const RunOptions& options) = 0;

 protected:
  Machine() = default;
};

}  // namespace overlaptune
