#include "query/explain.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

namespace overlaptune {
namespace {

constexpr int kRunnersUp = 1;  // of the winning strategy, beyond the one that each other one has

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
  constexpr int kProposals = 8;  // of each strategy, as in answers
  const Ranking ranking =
      value_or_throw(model.rank(problem, launch, {.space = Space::subset, .best = kProposals}));
  const ProblemCorrections& corrections = ranking.corrections;
  const Config& best = ranking.scores.front().config;
  Explanation result{.learned_from = corrections.rows(),
                     .best = explained(model, corrections, best),
                     .baseline = explained(model, corrections, ranking.sequential.config)};
  std::map<Strategy, int> shown{{strategy_of(best), -kRunnersUp}};
  for (const LearnedScore& other : ranking.scores) {  // fastest first
    if (other.config == best || ++shown[strategy_of(other.config)] > 1) continue;
    result.alternatives.push_back(explained(model, corrections, other.config));
  }
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
