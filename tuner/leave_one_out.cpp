#include "tuner/leave_one_out.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

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
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    return a->candidate.predicted < b->candidate.predicted;
  });
  int next = 0;
  for (StoredCandidate* row : rows) {
    const bool drawn = row->candidate.origin == Origin::explore;
    row->candidate.rank_by_model = drawn ? std::nullopt : std::optional(next++);
  }
}

}  // namespace

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
      for (const StoredCandidate* row : predicted) left.candidates.push_back(*row);
    }
  }
  return left;
}

}  // namespace overlaptune
