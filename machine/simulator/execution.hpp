#pragma once
// Runs a schedule on all ranks, repetition by repetition.

#include <algorithm>
#include <functional>
#include <vector>

#include "core/problem.hpp"
#include "core/timeline.hpp"
#include "machine/simulator/engine.hpp"
#include "machine/simulator/launch.hpp"
#include "machine/simulator/noise.hpp"
#include "machine/simulator/schedule.hpp"

namespace overlaptune::sim {

/// One repetition. Times are microseconds, with the launch.
struct Repetition {
  std::vector<double> rank_times{};
  Timeline timeline{};
  [[nodiscard]] double slowest() const { return std::ranges::max(rank_times); }
};

struct Execution {
  std::vector<Repetition> repetitions{};
  ClockState clock{};
};

/// The background of a config: the work that runs in turn with it. The power limit acts on all of
/// it.
struct Background {
  Load work{};
  double gemm = 0;   ///< time of its GEMMs at the highest clock
  double other = 0;  ///< time in which no GEMM runs
};

struct Setting {
  const Profile* profile = nullptr;
  Launch launch = Launch::graph;
  int ranks = 0;
  int repetitions = 0;
  bool settled = false;           ///< see `Round`
  bool at_highest_clock = false;  ///< no power limit lowers the clock
  Background background{};
};

/// The background of a config that is compared with `sequential`: `sequential`, and its GEMM and
/// its collective alone.
[[nodiscard]] Background background_of(const Setting& setting, const Schedule& sequential,
                                       const Noise& noise);

/// The times of one run: all of it, and the part in which its GEMMs run.
struct RunTimes {
  double all = 0;
  double gemm = 0;
};

/// The clock at which the time of a config and the power that it draws agree. `work` is that of one
/// run, `around` the time of its launch, and `run(factor)` its times at a clock factor. The run is
/// in turn with the background of the setting.
[[nodiscard]] ClockState settled_clock(const Setting& setting, const Load& work, double around,
                                       const std::function<RunTimes(double factor)>& run);

[[nodiscard]] Execution execute(const Setting& setting, const Schedule& schedule,
                                const Noise& noise);

}  // namespace overlaptune::sim
