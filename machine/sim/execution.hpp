#pragma once
// Runs a plan on all ranks, repetition by repetition.

#include <vector>

#include "core/problem.hpp"
#include "core/timeline.hpp"
#include "machine/sim/engine.hpp"
#include "machine/sim/launch.hpp"
#include "machine/sim/noise.hpp"
#include "machine/sim/plan.hpp"

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

struct Setting {
  const Profile* profile = nullptr;
  Effects effects{};
  Launch launch = Launch::graph;
  int ranks = 0;
  int repetitions = 0;
};

[[nodiscard]] Execution execute(const Setting& setting, const Plan& plan, const Noise& noise);

}  // namespace overlaptune::sim
