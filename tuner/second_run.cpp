#include "tuner/second_run.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <spdlog/spdlog.h>

#include "core/busy.hpp"
#include "core/config/strategies.hpp"
#include "core/timeline_activities.hpp"

namespace overlaptune {
namespace {

/// The result of a second run.
struct Rerun {
  Candidate candidate{};
  /// The traced activities of one repetition. A machine that gives only a timeline has the
  /// activities of its slowest rank. Empty where the machine cannot trace or was not asked to.
  std::vector<Activity> activities{};
  std::vector<Microseconds> gemm_alone{};  ///< in the same rounds; empty: not timed
  std::vector<Microseconds> collective_alone{};
};

Expected<Rerun> run_again(Machine& machine, const Candidate& winner, const Candidate& sequential,
                          bool traced) {
  constexpr int kRepetitions = 24;
  const std::vector<Config> configs{sequential.config, winner.config};
  auto results = machine.run(winner.problem, configs,
                             {.launch = winner.launch,
                              .repetitions = kRepetitions,
                              .timeline = traced,
                              .spread = true,
                              .expected = {sequential.predicted, winner.predicted}});
  if (!results) return error_of(results);
  Rerun rerun{.candidate = judged(winner, results->back(), results->front())};
  RunResult& result = results->back();
  rerun.activities = result.activities.empty() && result.timeline
                         ? activities_of(*result.timeline, winner.problem.op)
                         : std::move(result.activities);
  rerun.gemm_alone = std::move(result.gemm_alone);
  rerun.collective_alone = std::move(result.collective_alone);
  return rerun;
}

/// GEMM and collective alone as in the rounds of the winner, at its clock. The rounds have the GEMM
/// of the library; a generated one is taken to be as much faster as it is by itself. They have one
/// collective, so one that is faster by itself stays.
void compare_in_rounds(const Rerun& rerun, const GemmTimes& gemm, Winner& winner) {
  const bool known = gemm.library > us(0) && std::isfinite(gemm.library.count());
  if (known && !rerun.gemm_alone.empty()) {
    winner.gemm_alone = summarize(rerun.gemm_alone).median * (gemm.fastest / gemm.library);
  }
  if (!rerun.collective_alone.empty()) {
    winner.collective_alone =
        std::min(winner.collective_alone, summarize(rerun.collective_alone).median);
  }
}

void warn(const Candidate& winner, std::string_view what, std::string_view why) {
  spdlog::warn("{}: {}: {}: {}", to_string(winner.problem), to_string(winner.config), what, why);
}

}  // namespace

std::optional<Winner> SecondRun::confirmed(Winner winner, const Candidate& sequential,
                                           const GemmTimes& gemm) {
  const Candidate first = winner.candidate;
  auto rerun = run_again(machine_, first, sequential, traces_);
  if (traces_ && rerun && rerun->candidate.verdict != Verdict::valid) {
    // The trace may have caused the failure, so run without it.
    rerun = run_again(machine_, first, sequential, false);
  }
  if (!rerun) {
    warn(first, "the winner could not be run once more", rerun.error().message);
    return winner;
  }
  const Candidate& second = rerun->candidate;
  if (second.verdict != Verdict::valid) {
    warn(first,
         "the fastest, but when it was run once more " + std::string(to_string(second.verdict)),
         second.reason);
    return std::nullopt;
  }
  if (!second.speedup) {
    warn(first, "the winner could not be run once more", "nothing to compare it with");
    return winner;
  }
  if (second.speedup->median < 1) {
    spdlog::info("{}: {} was the fastest, but is slower than sequential when it is run longer",
                 to_string(first.problem), to_string(first.config));
    return std::nullopt;
  }
  winner.candidate = second;
  winner.sequential = second.measured->median * second.speedup->median;
  compare_in_rounds(*rerun, gemm, winner);
  winner.overlap_fraction = overlap_of(first, rerun->activities);
  return winner;
}

std::optional<double> SecondRun::overlap_of(const Candidate& winner,
                                            const std::vector<Activity>& activities) {
  if (activities.empty()) {
    if (std::exchange(traces_, false)) {
      spdlog::warn(
          "{} does not tell what its GPUs do (is CUPTI installed?): overlap fractions are not "
          "stored",
          machine_.platform().name);
    }
    return std::nullopt;
  }
  const auto fraction = overlap_fraction(busy(activities).mean);
  const Config& config = winner.config;
  const bool is_one_kernel = traits_of(strategy_of(config)).in_gemm.contains(transport_of(config));
  if (!fraction && !is_one_kernel) {
    spdlog::warn(
        "{}: no GEMM or no collective was seen in the trace of the winner, its overlap fraction is "
        "not stored: {}",
        to_string(winner.problem), to_string(winner.config));
  }
  return fraction;
}

}  // namespace overlaptune
