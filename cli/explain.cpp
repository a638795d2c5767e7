#include "cli/explain.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/json.hpp"
#include "reports/winners.hpp"

namespace overlaptune::cli {
namespace {

constexpr int kRunnersUp = 2;  // alternatives of the winning strategy

Explained explained(const LearnedModel& model, const ProblemCorrections& corrections,
                    const Config& config) {
  return {.score = value_or_throw(model.score(corrections, config)),
          .prediction = value_or_throw(
              model.analytic().predict(corrections.problem(), config, corrections.launch()))};
}

/// What was learned of the time, in microseconds.
double learned(const Explained& row) {
  return (row.score.time() - row.score.analytic).count();
}

/// What the analytic model adds to the GEMM alone and to the exposed communication: the GEMM is
/// slower beside a collective, waits for SMs, and each launch costs time.
double beside(const Explained& row) {
  return (row.score.analytic - row.prediction.gemm_alone - exposed(row.prediction)).count();
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
  const double taught = in_tenths(learned(loser) - learned(best));
  // The rest is what is left of the whole, so that the printed terms add up.
  return fmt::format(
      "{:+.1f} us: GEMM alone {:+.1f} us, exposed communication {:+.1f} us, GEMM beside it and "
      "launches {:+.1f} us, learned {:+.1f} us",
      all, gemm, waiting, all - gemm - waiting - taught, taught);
}

Table table(const Explanation& explanation) {
  Table made{.name = "alternatives",
             .columns = {{"strategy"},
                         {"tile"},
                         {"exchange"},
                         {"wave groups"},
                         {"predicted us"},
                         {"p10 us"},
                         {"p90 us"},
                         {"learned us"},
                         {"GEMM alone us"},
                         {"collective alone us"},
                         {"exposed us"},
                         {"beside us"},
                         {"bound by"},
                         {"against the best"},
                         {"config"}}};
  const auto add = [&](const Explained& row, Cell against) {
    const Prediction& prediction = row.prediction;
    made.rows.push_back({std::string(to_string(strategy_of(row.score.config))),
                         to_string(tile_of(row.score.config)), brief_exchange(row.score.config),
                         brief_partition(row.score.config), row.score.time().count(),
                         row.score.p10().count(), row.score.p90().count(), learned(row),
                         prediction.gemm_alone.count(), prediction.collective_alone.count(),
                         exposed(prediction).count(), beside(row), bound_by(prediction),
                         std::move(against), to_string(row.score.config)});
  };
  add(explanation.best, std::string("the best"));
  for (const Explained& row : explanation.alternatives) add(row, reason(row, explanation.best));
  return made;
}

OrderedJson alternatives_json(const Explanation& explanation) {
  OrderedJson list = OrderedJson::array();
  for (const Explained& row : explanation.alternatives) {
    const Prediction& prediction = row.prediction;
    list.push_back({{"config", json_of(row.score.config)},
                    {"predicted_us", row.score.time().count()},
                    {"predicted_p10_us", row.score.p10().count()},
                    {"predicted_p90_us", row.score.p90().count()},
                    {"analytic_us", row.score.analytic.count()},
                    {"slower_by", row.score.time() / explanation.best.score.time() - 1},
                    {"gemm_alone_us", prediction.gemm_alone.count()},
                    {"collective_alone_us", prediction.collective_alone.count()},
                    {"exposed_us", exposed(prediction).count()},
                    {"beside_us", beside(row)},
                    {"bound_by", bound_by(prediction)},
                    {"reason", reason(row, explanation.best)}});
  }
  return list;
}

}  // namespace overlaptune::cli
