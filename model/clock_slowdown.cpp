#include "model/clock_slowdown.hpp"

#include <algorithm>

namespace overlaptune {
namespace {

/// The time until both GEMM and collective have ended, if they start together and each is slowed
/// while the other runs.
double beside(double gemm, double collective, const Slowdown& slowdown) {
  const double slowed_gemm = gemm * slowdown.gemm;
  const double slowed_collective = collective * slowdown.collective;
  return slowed_gemm <= slowed_collective
             ? slowed_gemm + collective - slowed_gemm / slowdown.collective
             : slowed_collective + gemm - slowed_collective / slowdown.gemm;
}

/// Times of one run of a config: the whole run, and the part in which its GEMM runs.
struct RunTimes {
  double all = 0;
  double gemm = 0;
};

/// The factor on `gemm`; `run(time)` returns the times of one run whose GEMM takes `time`. A slower
/// clock makes the run longer and so the GPU cooler: the result is the fixed point.
template <class RunOf>
double clock_slowdown(const ClockModel& clock, const Problem& problem,
                      const BackgroundLoad& background, const ConfigGemm& gemm, double collective,
                      const RunOf& run) {
  constexpr int kIterations = 4;
  constexpr double kNone = 1.001;
  constexpr double kTimes = 2;  // the background runs twice: within `sequential`, and alone
  const double rounds = background.gemm > 0 ? 1 + kTimes : 1;
  const double macs = flops(problem) / 2;
  double slowdown = 1;
  for (int step = 0; step < kIterations; ++step) {
    const RunTimes own = run(gemm.time * slowdown);
    const double next = clock.slowdown(
        {.elements = problem.elements,
         .work = rounds * macs,
         .loads = macs * extra_loads(gemm.tile),
         .bytes = rounds * product_bytes(problem.m, problem.n, problem.k, problem.elements),
         .gemm = (gemm.time + kTimes * background.gemm) * slowdown,
         .stretch = own.gemm / (gemm.time * slowdown),
         .collective = collective + kTimes * background.collective,
         .round = own.all + kTimes * (background.gemm * slowdown + background.collective)});
    if (next < kNone) return next;
    // Half a step: the whole one overshoots where the clock falls steeply.
    slowdown = step == 0 ? (1 + next) / 2 : (slowdown + next) / 2;
  }
  return slowdown;
}

}  // namespace

BackgroundLoad background_of(const Model::Parts& parts, const ClassGemms& gemms,
                             const Problem& problem) {
  const Curve* curve = parts.collectives.find({collective_of(problem.op), problem.ranks});
  const auto bytes = static_cast<double>(collective_bytes(problem).count);
  return {.gemm = gemms.library.time(problem.m, problem.n, problem.k, parts.platform.sms),
          .collective = curve == nullptr ? 0 : (*curve)(bytes)};
}

double clock_slowdown_in_turn(const ClockModel& clock, const Problem& problem,
                              const BackgroundLoad& background, const ConfigGemm& gemm,
                              double collective) {
  return clock_slowdown(clock, problem, background, gemm, collective, [&](double slowed) {
    return RunTimes{slowed + collective, slowed};
  });
}

double clock_slowdown_beside(const ClockModel& clock, const Problem& problem,
                             const BackgroundLoad& background, const ConfigGemm& gemm,
                             double collective, const Slowdown& slowdown) {
  return clock_slowdown(clock, problem, background, gemm, collective, [&](double slowed) {
    const double all = beside(slowed, collective, slowdown);
    return RunTimes{all, std::min(all, slowed * slowdown.gemm)};
  });
}

double clock_slowdown_waiting(const ClockModel& clock, const Problem& problem,
                              const BackgroundLoad& background, const ConfigGemm& gemm,
                              double collective, const Slowdown& slowdown, double rest) {
  return clock_slowdown(clock, problem, background, gemm, collective, [&](double slowed) {
    const double all = std::max(beside(slowed, collective, slowdown), collective + rest * slowed);
    return RunTimes{all, all};
  });
}

}  // namespace overlaptune
