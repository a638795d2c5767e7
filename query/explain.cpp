#include "query/explain.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace overlaptune {
namespace {

constexpr int kRunnersUp = 2;  // alternatives of the winning strategy

Explained explained(const LearnedModel& model, const ProblemCorrections& corrections,
                    const Config& config) {
  return {.score = value_or_throw(model.score(corrections, config)),
          .prediction = value_or_throw(
              model.analytic().predict(corrections.problem(), config, corrections.launch()))};
}

/// A difference as it is printed: in tenths of a microsecond.
double in_tenths(double us) {
  return std::round(10 * us) / 10;
}

}  // namespace

Explanation explain(const LearnedModel& model, const Problem& problem, Launch launch) {
  constexpr int kProposals = 32;
  const Ranking ranking = value_or_throw(model.rank(problem, launch, {.best = kProposals}));
  const ProblemCorrections& corrections = ranking.corrections;
  const Config& best = ranking.scores.front().config;
  Explanation result{.learned_from = corrections.rows(),
                     .best = explained(model, corrections, best),
                     .baseline = explained(model, corrections, ranking.sequential.config)};
  for (const auto& [strategy, name] : NamesOf<Strategy>::all) {
    const bool winning = strategy == strategy_of(best);
    const auto scored = search(model.analytic(), problem, launch,
                               {.best = 1 + (winning ? kRunnersUp : 0), .strategies = {strategy}});
    if (!scored) continue;
    for (const Scored& other : *scored) {
      if (strategy_of(other.config) != strategy || other.config == best) continue;
      result.alternatives.push_back(explained(model, corrections, other.config));
    }
  }
  std::sort(result.alternatives.begin(), result.alternatives.end(),
            [](const Explained& a, const Explained& b) { return a.score.time() < b.score.time(); });
  return result;
}

double learned_us(const Explained& row) {
  return (row.score.time() - row.score.analytic).count();
}

double beside_us(const Explained& row) {
  return (row.score.analytic - row.prediction.gemm_alone - exposed(row.prediction)).count();
}

Microseconds exposed(const Prediction& prediction) {
  Microseconds sum{};
  for (const GroupTimes& group : prediction.timeline.groups) sum += group.exposed;
  return sum;
}

std::string bound_by(const Prediction& prediction) {
  return prediction.gemm_alone < prediction.collective_alone ? "collective" : "gemm";
}

std::string reason(const Explained& loser, const Explained& best) {
  const double all = in_tenths((loser.score.time() - best.score.time()).count());
  const double gemm = in_tenths((loser.prediction.gemm_alone - best.prediction.gemm_alone).count());
  const double waiting = in_tenths((exposed(loser.prediction) - exposed(best.prediction)).count());
  const double taught = in_tenths(learned_us(loser) - learned_us(best));
  // The rest is what is left of the whole, so that the printed terms add up.
  return fmt::format(
      "{:+.1f} us: GEMM alone {:+.1f} us, exposed communication {:+.1f} us, GEMM beside it and "
      "launches {:+.1f} us, learned {:+.1f} us",
      all, gemm, waiting, all - gemm - waiting - taught, taught);
}

}  // namespace overlaptune
