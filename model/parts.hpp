#pragma once
// The fitted parts of a model, as the strategies use them.

#include <algorithm>
#include <optional>

#include "core/gpu.hpp"
#include "model/clock_model.hpp"
#include "model/collective_model.hpp"
#include "model/contention_model.hpp"
#include "model/gemm_model.hpp"
#include "model/launch_model.hpp"
#include "model/model.hpp"

namespace overlaptune {

struct Model::Parts {
  Platform platform{};
  GpuLimits limits{};
  LaunchModel launch{};
  CollectiveModel collectives{};
  ContentionModel contention{};
  ClockModel clock{};
  LibraryGemmModel library{};
  std::optional<GemmModel> tiled{};  ///< absent where our own kernels were never probed
};

/// The shortest time in which GEMM and collective come to their ends beside each other, each slowed
/// while the other runs.
inline double beside(double gemm, double collective, const Slowdown& slowdown) {
  const double slowed_gemm = gemm * slowdown.gemm;
  const double slowed_collective = collective * slowdown.collective;
  return slowed_gemm <= slowed_collective
             ? slowed_gemm + collective - slowed_gemm / slowdown.collective
             : slowed_collective + gemm - slowed_collective / slowdown.gemm;
}

/// What a config runs in turn with: `sequential`, and its GEMM and collective alone. That is what
/// it is compared with, and about what a layer has around one overlapped operation. The power limit
/// acts on the mean of all.
struct Company {
  double gemm = 0;        ///< at full clock
  double collective = 0;  ///< not in pieces
};

[[nodiscard]] Company company_of(const Model::Parts& parts, const Problem& problem);

/// Of a config: what it takes, and what its GEMM takes of that.
struct Round {
  double all = 0;
  double gemm = 0;
};

/// Factor on the times of a GEMM that takes `gemm` at full clock, where a round of the config is
/// `round(gemm)`. A slower clock makes the round longer, and so itself cooler: the fixed point.
template <class RoundOf>
double clock_slowdown(const ClockModel& clock, const Problem& problem, const Company& company,
                      double gemm, double collective, const RoundOf& round) {
  constexpr int kSteps = 4;
  constexpr double kNone = 1.001;
  constexpr double kTimes = 2;  // the company: within `sequential` and alone
  const double rounds = company.gemm > 0 ? 1 + kTimes : 1;
  double slowdown = 1;
  for (int step = 0; step < kSteps; ++step) {
    const Round own = round(gemm * slowdown);
    const double next = clock.slowdown(
        {.work = rounds * flops(problem) / 2,
         .bytes = rounds * gemm_bytes(problem.m, problem.n, problem.k),
         .gemm = (gemm + kTimes * company.gemm) * slowdown,
         .stretch = own.gemm / (gemm * slowdown),
         .collective = collective + kTimes * company.collective,
         .round = own.all + kTimes * (company.gemm * slowdown + company.collective)});
    if (next < kNone) return next;
    // Half a step: the whole one overshoots where the clock falls steeply.
    slowdown = step == 0 ? (1 + next) / 2 : (slowdown + next) / 2;
  }
  return slowdown;
}

/// One after the other.
inline double clock_slowdown_in_turn(const ClockModel& clock, const Problem& problem,
                                     const Company& company, double gemm, double collective) {
  return clock_slowdown(clock, problem, company, gemm, collective, [&](double slowed) {
    return Round{slowed + collective, slowed};
  });
}

/// Beside each other.
inline double clock_slowdown_beside(const ClockModel& clock, const Problem& problem,
                                    const Company& company, double gemm, double collective,
                                    const Slowdown& slowdown) {
  return clock_slowdown(clock, problem, company, gemm, collective, [&](double slowed) {
    const double all = beside(slowed, collective, slowdown);
    return Round{all, std::min(all, slowed * slowdown.gemm)};
  });
}

}  // namespace overlaptune
