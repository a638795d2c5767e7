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

/// Factor on the times of a config's GEMM: it runs in a loop whose round takes as long as the
/// longer of both sides, or (`in_turn`) as both together. A slower clock makes the round longer,
/// and so itself cooler: the fixed point of the two.
inline double clock_slowdown(const ClockModel& clock, const Problem& problem, double gemm,
                             double collective, bool in_turn) {
  constexpr int kSteps = 4;
  constexpr double kNone = 1.001;
  double slowdown = 1;
  for (int step = 0; step < kSteps; ++step) {
    const double slowed = gemm * slowdown;
    const double next =
        clock.slowdown({.work = flops(problem) / 2,
                        .bytes = gemm_bytes(problem.m, problem.n, problem.k),
                        .collective = collective,
                        .round = in_turn ? slowed + collective : std::max(slowed, collective)});
    if (next < kNone) return next;
    // Half a step: the whole one overshoots where the clock falls steeply.
    slowdown = step == 0 ? (1 + next) / 2 : (slowdown + next) / 2;
  }
  return slowdown;
}

}  // namespace overlaptune
