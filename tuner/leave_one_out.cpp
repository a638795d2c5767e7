#include "tuner/leave_one_out.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/statistics.hpp"
#include "model/learned_model.hpp"

namespace overlaptune {
namespace {

using Size = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

Size size_of(const Problem& problem) {
  return {problem.m, problem.n, problem.k};
}

bool is_probe_of(const Size& size, const Measurement& measurement) {
  const auto* gemm = std::get_if<GemmProbe>(&measurement.probe);
  return gemm != nullptr && Size{gemm->m, gemm->n, gemm->k} == size;
}

/// The model that knows everything but problems of this size.
Expected<LearnedModel> fitted_without(const Size& size, const PlatformResults& results,
                                      Learning learning) {
  std::vector<Measurement> probes = results.measurements;
  std::erase_if(probes, [&](const Measurement& each) { return is_probe_of(size, each); });
  auto analytic = Model::fit(results.platform, probes);
  if (!analytic) return error_of(analytic);
  LearnedModel model(std::move(*analytic));
  if (learning == Learning::off) return model;
  for (const StoredCandidate& row : results.candidates) {
    if (size_of(row.candidate.problem) != size) model.learn(row.candidate);
  }
  return model;
}

/// Ranks the candidates of one problem and launch by their predictions.
void rank(std::vector<StoredCandidate*>& rows) {
  std::ranges::stable_sort(rows, {}, [](const auto* row) { return row->candidate.predicted; });
  int next = 0;
  for (StoredCandidate* row : rows) {
    const bool drawn = row->candidate.origin == Origin::explore;
    row->candidate.rank_by_model = drawn ? std::nullopt : std::optional(next++);
  }
}

/// The choice among the ranked candidates of a problem; none where `sequential` was not measured.
/// The model's own best `sequential` stands against it: the measured one may be by a transport that
/// is not predicted.
std::optional<LeftOutChoice> choice_of(const LearnedModel& model, const Problem& problem,
                                       Launch launch, const std::vector<StoredCandidate>& measured,
                                       const std::vector<StoredCandidate*>& ranked) {
  const auto baseline = std::ranges::find_if(
      measured, [](const auto& row) { return strategy_of(row.candidate.config) == kBaseline; });
  const auto first = std::ranges::find_if(
      ranked, [](const auto* row) { return row->candidate.rank_by_model.has_value(); });
  if (baseline == measured.end() || first == ranked.end()) return std::nullopt;
  const auto ranking = model.rank(problem, launch, {.strategies = {kBaseline}});
  const auto score = model.score(model.around(problem, launch), (*first)->candidate.config);
  if (!ranking || !score) return std::nullopt;
  const bool leaves = is_surely_faster(*score, ranking->sequential, ranking->corrections);
  const Microseconds unit = baseline->candidate.measured->median;
  const auto time = [&](const Candidate& candidate) { return paired_time(candidate, unit); };
  const Microseconds chosen = leaves ? time((*first)->candidate) : unit;
  Microseconds best = chosen;
  for (const StoredCandidate& row : measured) best = std::min(best, time(row.candidate));
  return LeftOutChoice{
      .is_sequential = !leaves, .over_sequential = chosen / unit, .over_best = chosen / best};
}

}  // namespace

ChoiceSummary summary_of(std::span<const LeftOutChoice> choices) {
  constexpr double kSlower = 1.02;
  ChoiceSummary summary;
  std::vector<double> losses;
  for (const LeftOutChoice& choice : choices) {
    if (choice.is_sequential) {
      losses.push_back(choice.over_best - 1);
      continue;
    }
    ++summary.left;
    summary.slower += choice.over_sequential > kSlower ? 1 : 0;
    summary.most_slower = std::max(summary.most_slower, choice.over_sequential - 1);
  }
  summary.stayed = static_cast<int>(losses.size());
  summary.stayed_loss = losses.empty() ? 0 : mean(losses);
  return summary;
}

Expected<LeftOut> leave_one_out(const PlatformResults& results, Learning learning) {
  std::map<Size, std::map<std::pair<Problem, Launch>, std::vector<StoredCandidate>>> sizes;
  for (const StoredCandidate& row : results.candidates) {
    const Candidate& candidate = row.candidate;
    if (candidate.verdict != Verdict::valid || !candidate.measured) continue;
    sizes[size_of(candidate.problem)][{candidate.problem, candidate.launch}].push_back(row);
  }
  LeftOut left;
  for (auto& [size, problems] : sizes) {
    const auto model = fitted_without(size, results, learning);
    if (!model) return error_of(model);
    for (auto& [key, rows] : problems) {
      const ProblemCorrections corrections = model->around(key.first, key.second);
      std::vector<StoredCandidate*> predicted;
      for (StoredCandidate& row : rows) {
        const auto score = model->score(corrections, row.candidate.config);
        if (!score) continue;
        row.candidate.predicted = score->time();
        const Microseconds measured = row.candidate.measured->median;
        left.inside += measured > score->p10() && measured < score->p90() ? 1 : 0;
        predicted.push_back(&row);
      }
      rank(predicted);
      if (const auto choice = choice_of(*model, key.first, key.second, rows, predicted)) {
        left.choices.push_back(*choice);
      }
      for (const StoredCandidate* row : predicted) left.candidates.push_back(*row);
    }
  }
  return left;
}

}  // namespace overlaptune
