#include "cli/explain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/json.hpp"
#include "reports/winners.hpp"

namespace overlaptune::cli {
namespace {

constexpr int kRunnersUp = 2;  // alternatives of the winning strategy

Explained explained(const Model& model, const Problem& problem, Launch launch,
                    const Config& config) {
  return {.config = config, .prediction = value_or_throw(model.predict(problem, config, launch))};
}

}  // namespace

Explanation explain(const Model& model, const Problem& problem, Launch launch) {
  const auto best = value_or_throw(search(model, problem, launch, {})).front();
  Explanation result{.best = explained(model, problem, launch, best.config),
                     .baseline = explained(model, problem, launch, Config{})};
  for (const auto& [strategy, name] : NamesOf<Strategy>::all) {
    const bool winning = strategy == strategy_of(best.config);
    const auto scored = search(model, problem, launch,
                               {.best = 1 + (winning ? kRunnersUp : 0), .strategies = {strategy}});
    if (!scored) continue;
    for (const Scored& other : *scored) {
      if (strategy_of(other.config) != strategy || other.config == best.config) continue;
      result.alternatives.push_back(explained(model, problem, launch, other.config));
    }
  }
  std::sort(
      result.alternatives.begin(), result.alternatives.end(),
      [](const Explained& a, const Explained& b) { return a.prediction.time < b.prediction.time; });
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
  return fmt::format("{:+.1f} us: GEMM alone {:+.1f} us, exposed communication {:+.1f} us",
                     (loser.prediction.time - best.prediction.time).count(),
                     (loser.prediction.gemm_alone - best.prediction.gemm_alone).count(),
                     (exposed(loser.prediction) - exposed(best.prediction)).count());
}

Table table(const Explanation& explanation) {
  Table made{.name = "alternatives",
             .columns = {{"strategy"},
                         {"tile"},
                         {"exchange"},
                         {"wave groups"},
                         {"predicted us"},
                         {"GEMM alone us"},
                         {"collective alone us"},
                         {"exposed us"},
                         {"bound by"},
                         {"against the best"}}};
  const auto add = [&](const Explained& row, Cell against) {
    const Prediction& prediction = row.prediction;
    made.rows.push_back({std::string(to_string(strategy_of(row.config))),
                         to_string(tile_of(row.config)), brief_exchange(row.config),
                         brief_partition(row.config), prediction.time.count(),
                         prediction.gemm_alone.count(), prediction.collective_alone.count(),
                         exposed(prediction).count(), bound_by(prediction), std::move(against)});
  };
  add(explanation.best, std::string("the best"));
  for (const Explained& row : explanation.alternatives) add(row, reason(row, explanation.best));
  return made;
}

OrderedJson alternatives_json(const Explanation& explanation) {
  OrderedJson list = OrderedJson::array();
  for (const Explained& row : explanation.alternatives) {
    const Prediction& prediction = row.prediction;
    list.push_back({{"config", json_of(row.config)},
                    {"predicted_us", prediction.time.count()},
                    {"slower_by", prediction.time / explanation.best.prediction.time - 1},
                    {"gemm_alone_us", prediction.gemm_alone.count()},
                    {"collective_alone_us", prediction.collective_alone.count()},
                    {"exposed_us", exposed(prediction).count()},
                    {"bound_by", bound_by(prediction)},
                    {"reason", reason(row, explanation.best)}});
  }
  return list;
}

}  // namespace overlaptune::cli
