#include "tuner/second_run.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/busy.hpp"
#include "core/config/strategies.hpp"
#include "core/timeline_activities.hpp"

namespace overlaptune {
namespace {

constexpr int kSteadyRepetitions = 24;
/// Repetitions of the other phases: the interval of a median of 9 leaves out one at each end.
constexpr int kBriefRepetitions = 9;

void warn(const Candidate& about, std::string_view what, std::string_view why) {
  spdlog::warn("{}: {}: {}: {}", to_string(about.problem), to_string(about.config), what, why);
}

bool took_its_workers(Verdict verdict) {
  return verdict == Verdict::timeout || verdict == Verdict::crashed ||
         verdict == Verdict::rank_died;
}

PhaseResult phase_result(const Candidate& candidate, RunPhase phase, const RunResult& sequential,
                         const RunResult& result) {
  PhaseResult row{.problem = candidate.problem,
                  .launch = candidate.launch,
                  .config = candidate.config,
                  .phase = phase,
                  .verdict = result.verdict,
                  .reason = result.reason,
                  .conditions = result.conditions};
  const std::vector<Microseconds> times = slowest_rank(result);
  if (!times.empty()) row.measured = summarize(times);
  const std::vector<Microseconds> baseline = slowest_rank(sequential);
  if (!baseline.empty()) row.sequential = summarize(baseline).median;
  const std::vector<double> ratios = paired_ratios(sequential, result);
  if (const auto interval = median_interval(ratios)) {
    row.speedup = {quantile(ratios, 0.5), interval->low, interval->high};
  }
  return row;
}

void say_why_out(const Candidate& candidate, const PhaseResult& row) {
  if (row.verdict != Verdict::valid) {
    warn(candidate,
         fmt::format("among the fastest, but when it was run once more ({}) {}",
                     to_string(row.phase), to_string(row.verdict)),
         row.reason);
    return;
  }
  spdlog::info(
      "{}: {} was among the fastest, but is slower than sequential when it is run once more ({}): "
      "speedup {:.3f} ({:.3f} to {:.3f})",
      to_string(candidate.problem), to_string(candidate.config), to_string(row.phase),
      row.speedup->median, row.speedup->low, row.speedup->high);
}

/// The activities of the traced repetition. A machine that gives only a timeline has those of its
/// slowest rank. Empty where the machine cannot trace or was not asked to.
std::vector<Activity> activities_in(const RunResult& result, Op op) {
  if (result.activities.empty() && result.timeline) return activities_of(*result.timeline, op);
  return result.activities;
}

}  // namespace

std::optional<Confirmed> SecondRun::confirmed(std::vector<Candidate> best,
                                              const Candidate& sequential) {
  const auto steady = run_steady(best, sequential);
  if (!steady) {
    warn(best.front(), "the winner could not be run once more", steady.error().message);
    return Confirmed{best.front()};
  }
  const std::vector<Candidate> first = best;
  sift(RunPhase::steady, *steady, best);
  if (best.empty()) return std::nullopt;
  const Candidate fastest = best.front();
  const auto pair_of = [&](const Candidate& candidate) -> const Paired& {
    std::size_t i = 0;
    while (first[i].config != candidate.config) ++i;
    return (*steady)[i];
  };
  for (Candidate& each : best) {
    const Paired& pair = pair_of(each);
    each = judged(each, pair.result, pair.sequential);
  }
  std::erase_if(best, [&](const Candidate& each) {
    if (each.speedup) return false;
    const RunResult& baseline = pair_of(each).sequential;
    warn(each, fmt::format("left out: sequential, beside it, {}", to_string(baseline.verdict)),
         baseline.reason);
    return true;
  });
  if (best.empty()) {
    warn(fastest, "the winner could not be run once more", "nothing to compare it with");
    return Confirmed{fastest};
  }
  std::ranges::stable_sort(best, std::ranges::greater{},
                           [](const Candidate& each) { return each.speedup->median; });
  for (const RunPhase phase : {RunPhase::cold, RunPhase::beside}) {
    const auto results = run(best, sequential, {.repetitions = kBriefRepetitions, .phase = phase});
    if (!results) {
      warn(best.front(), fmt::format("the phase {} was not run", to_string(phase)),
           results.error().message);
      continue;
    }
    sift(phase, *results, best);
    if (best.empty()) return std::nullopt;
  }
  const RunResult& result = pair_of(best.front()).result;
  return Confirmed{.candidate = best.front(),
                   .gemm_alone = result.gemm_alone,
                   .collective_alone = result.collective_alone,
                   .overlap_fraction =
                       was_traced_
                           ? overlap_of(best.front(), activities_in(result, sequential.problem.op))
                           : std::nullopt};
}

Expected<SecondRun::Results> SecondRun::run_steady(const std::vector<Candidate>& best,
                                                   const Candidate& sequential) {
  RunOptions options{.repetitions = kSteadyRepetitions, .timeline = traces_, .spread = true};
  was_traced_ = traces_;
  auto results = run(best, sequential, options);
  const bool failed =
      results && std::any_of(results->begin(), results->end(), [](const Paired& pair) {
        return pair.result.verdict != Verdict::valid || pair.sequential.verdict != Verdict::valid;
      });
  if (!traces_ || !failed) return results;
  // The trace may have caused the failure, so run without it.
  options.timeline = was_traced_ = false;
  return run(best, sequential, options);
}

Expected<SecondRun::Results> SecondRun::run(std::span<const Candidate> best,
                                            const Candidate& sequential, RunOptions options) {
  std::vector<Config> configs{sequential.config};
  options.launch = sequential.launch;
  options.own_memory = true;
  options.expected = {sequential.predicted};
  for (const Candidate& candidate : best) {
    configs.push_back(candidate.config);
    options.expected.push_back(candidate.predicted);
  }
  auto together = machine_.run(sequential.problem, configs, options);
  if (!together) return error_of(together);
  const bool fault = std::any_of(together->begin(), together->end(), [](const RunResult& result) {
    return took_its_workers(result.verdict);
  });
  Results results;
  if (!fault || best.size() == 1) {
    for (std::size_t i = 0; i < best.size(); ++i) {
      results.push_back({together->front(), std::move((*together)[i + 1])});
    }
    return results;
  }
  for (std::size_t i = 0; i < best.size(); ++i) {
    auto alone = run(best.subspan(i, 1), sequential, options);
    if (!alone) return alone;
    results.push_back(std::move(alone->front()));
  }
  return results;
}

void SecondRun::sift(RunPhase phase, const Results& results, std::vector<Candidate>& best) {
  std::vector<PhaseResult> rows;
  std::vector<Candidate> left;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const PhaseResult& row =
        rows.emplace_back(phase_result(best[i], phase, results[i].sequential, results[i].result));
    if (rules_out(row)) {
      say_why_out(best[i], row);
    } else {
      left.push_back(std::move(best[i]));
    }
  }
  best = std::move(left);
  keep_(rows);
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

Winner with_second_run(Winner winner, const Confirmed& confirmed, const GemmTimes& gemm) {
  winner.candidate = confirmed.candidate;
  winner.overlap_fraction = confirmed.overlap_fraction;
  const Candidate& candidate = winner.candidate;
  if (candidate.speedup) {
    winner.sequential = candidate.measured->median * candidate.speedup->median;
  }
  const bool known = gemm.library > us(0) && std::isfinite(gemm.library.count());
  if (known && !confirmed.gemm_alone.empty()) {
    winner.gemm_alone = summarize(confirmed.gemm_alone).median * (gemm.fastest / gemm.library);
  }
  if (!confirmed.collective_alone.empty()) {
    winner.collective_alone =
        std::min(winner.collective_alone, summarize(confirmed.collective_alone).median);
  }
  return winner;
}

}  // namespace overlaptune
