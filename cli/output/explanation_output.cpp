#include "cli/output/explanation_output.hpp"

#include <fmt/format.h>

#include "cli/output/origin.hpp"
#include "reports/json.hpp"
#include "reports/trace.hpp"
#include "reports/winners.hpp"

namespace overlaptune::cli {
namespace {

Table timeline_table(const Timeline& timeline) {
  Table table{.name = "timeline",
              .columns = columns_of("group, ready us, start us, end us, exposed us")};
  for (const GroupTimes& group : timeline.groups) {
    table.rows.push_back({cell(group.group), group.ready.count(), group.start.count(),
                          group.end.count(), group.exposed.count()});
  }
  return table;
}

/// A line for each config, the best one first.
Table configs_table(const Explanation& explanation) {
  Table made{.name = "alternatives",
             .columns = columns_of("strategy, tile, exchange, wave groups, predicted us, p10 us, "
                                   "p90 us, learned us, GEMM alone us, collective alone us, "
                                   "exposed us, beside us, bound by, against the best, config")};
  const auto add = [&](const Explained& row, Cell against) {
    const Prediction& prediction = row.prediction;
    made.rows.push_back({cell(strategy_of(row.score.config)), to_string(tile_of(row.score.config)),
                         brief_exchange(row.score.config), brief_partition(row.score.config),
                         row.score.time().count(), row.score.p10().count(), row.score.p90().count(),
                         learned_us(row), prediction.gemm_alone.count(),
                         prediction.collective_alone.count(), exposed(prediction).count(),
                         beside_us(row), bound_by(prediction), std::move(against),
                         to_string(row.score.config)});
  };
  add(explanation.best, std::string("the best"));
  for (const Explained& row : explanation.alternatives) add(row, reason(row, explanation.best));
  return made;
}

/// Config and times of a row, as the best one and the alternatives have them.
OrderedJson times_of(const Explained& row) {
  const Prediction& prediction = row.prediction;
  return {{"config", json_of(row.score.config)},
          {"config_line", to_string(row.score.config)},
          {"predicted_us", row.score.time().count()},
          {"predicted_p10_us", row.score.p10().count()},
          {"predicted_p90_us", row.score.p90().count()},
          {"analytic_us", row.score.analytic.count()},
          {"gemm_alone_us", prediction.gemm_alone.count()},
          {"collective_alone_us", prediction.collective_alone.count()},
          {"exposed_us", exposed(prediction).count()},
          {"beside_us", beside_us(row)},
          {"bound_by", bound_by(prediction)}};
}

}  // namespace

std::string in_words(const Explanation& explanation, const Question& question) {
  const LearnedScore& score = explanation.best.score;
  const Prediction& best = explanation.best.prediction;
  return fmt::format(
      "The fastest of all configs under the model alone:\n{0}\n"
      "predicted {1:.1f} us (p10 {2:.1f}, p90 {3:.1f}), sequential {4:.1f} us{5}\n"
      "{6:.1f} us by the analytic model, {7:+.1f} us learned from {8} measured configs{5}\n"
      "bound by the {9}, {10:.1f} us of communication exposed{5}\n\n"
      "By the analytic model the GEMM ends at {11:.1f} us{5}.\n\n{12}\n{13}",
      to_string(score.config), score.time().count(), score.p10().count(), score.p90().count(),
      explanation.baseline.score.time().count(), simulated_mark(question.platform()),
      score.analytic.count(), learned_us(explanation.best), explanation.learned_from,
      bound_by(best), exposed(best).count(), best.timeline.gemm_end.count(),
      to_markdown(with_machine(timeline_table(best.timeline), question.platform())),
      to_markdown(with_machine(configs_table(explanation), question.platform())));
}

OrderedJson document_of(const Explanation& explanation) {
  OrderedJson document = times_of(explanation.best);
  document["sequential_us"] = explanation.baseline.score.time().count();
  document["learned_from"] = explanation.learned_from;
  document["gemm_end_us"] = explanation.best.prediction.timeline.gemm_end.count();
  document["timeline"] = json_of(explanation.best.prediction.timeline);
  OrderedJson alternatives = OrderedJson::array();
  for (const Explained& row : explanation.alternatives) {
    OrderedJson& other = alternatives.emplace_back(times_of(row));
    other["slower_by"] = row.score.time() / explanation.best.score.time() - 1;
    other["reason"] = reason(row, explanation.best);
  }
  document["alternatives"] = std::move(alternatives);
  return document;
}

std::string trace_of(const Explanation& explanation, const Question& question) {
  std::vector<TracedRun> runs;
  for (const Explained* row : {&explanation.best, &explanation.baseline}) {
    if (!runs.empty() && row->score.config == explanation.best.score.config) break;
    runs.push_back(traced_run(question.problem(), row->score.config, row->prediction.timeline));
  }
  return chrome_trace(runs, trace_title(question.problem(), question.platform(),
                                        explanation.best.score.config, "predicted"));
}

}  // namespace overlaptune::cli
