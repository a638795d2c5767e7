#pragma once
// Runs a schedule on all ranks, repetition by repetition.

#include <vector>

#include "core/problem.hpp"
#include "core/timeline.hpp"
#include "machine/sim/engine.hpp"
#include "machine/sim/launch.hpp"
#include "machine/sim/noise.hpp"
#include "machine/sim/schedule.hpp"

namespace overlaptune::sim {

/// One repetition: times in microseconds, launch included.
struct Repetition {
  std::vector<double> rank_times{};
  Timeline timeline{};
};

struct Execution {
  std::vector<Repetition> repetitions{};
  ClockState clock{};
};

/// The background of a config: what runs in turn with it, again and again. The power limit sees all
/// of it.
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
  Background background{};
};

/// The background of a config that is compared with `sequential`: that, its GEMM and its
/// collective.
[[nodiscard]] Background background_of(const Setting& setting, const Schedule& sequential,
                                       const Noise& noise);

[[nodiscard]] Execution execute(const Setting& setting, const Schedule& schedule,
                                const Noise& noise);

}  // namespace overlaptune::sim
