#pragma once
// Runs a schedule on all ranks, repetition by repetition.

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
  Effects effects{};
  Launch launch = Launch::graph;
  int ranks = 0;
  int repetitions = 0;
  bool settled = false;  ///< see `Round`
  Background background{};
};

/// The background of a config that is compared with `sequential`: `sequential`, and its GEMM and
/// its collective alone.
[[nodiscard]] Background background_of(const Setting& setting, const Schedule& sequential,
                                       const Noise& noise);

[[nodiscard]] Execution execute(const Setting& setting, const Schedule& schedule,
                                const Noise& noise);

}  // namespace overlaptune::sim
