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

/// What runs in turn with a config, again and again: the power limit sees all of it.
struct Company {
  Work work{};
  double gemm = 0;   ///< time of its GEMMs at the highest clock
  double other = 0;  ///< time in which no GEMM runs
};

struct Setting {
  const Profile* profile = nullptr;
  Effects effects{};
  Launch launch = Launch::graph;
  int ranks = 0;
  int repetitions = 0;
  Company company{};
};

/// Of a config that is compared with `sequential`: that, its GEMM and its collective.
[[nodiscard]] Company company_of(const Setting& setting, const Plan& sequential,
                                 const Noise& noise);

[[nodiscard]] Execution execute(const Setting& setting, const Plan& plan, const Noise& noise);

}  // namespace overlaptune::sim
