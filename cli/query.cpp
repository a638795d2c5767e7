// overlaptune query: prints the best known config of one problem.

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/flags/problem_flags.hpp"
#include "cli/flags/question.hpp"
#include "cli/output/origin.hpp"
#include "query/explain.hpp"
#include "reports/json.hpp"
#include "reports/trace.hpp"
#include "reports/winners.hpp"

namespace overlaptune::cli {
namespace {

struct QueryFlags {
  CommonFlags common{};
  QuestionFlags question{};
  Terms terms{};
  bool explain = false;
  bool family = false;
  std::string trace{};
};

std::string time_text(const std::optional<Microseconds>& time) {
  return time ? fmt::format("{:.1f} us", time->count()) : "-";
}

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

/// The best config in words, with its timeline, and a table of why the next best ones are slower.
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

/// `config`, `config_line`, `predicted_us`, …, `alternatives`: the field `explanation` of
/// `query --json`.
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

/// A Chrome trace of the best config, as it is predicted, and of `sequential`.
std::string trace_of(const Explanation& explanation, const Question& question) {
  std::vector<TracedRun> runs;
  for (const Explained* row : {&explanation.best, &explanation.baseline}) {
    if (!runs.empty() && row->score.config == explanation.best.score.config) break;
    runs.push_back(traced_run(question.problem(), row->score.config, row->prediction.timeline));
  }
  return chrome_trace(runs, trace_title(question.problem(), question.platform(),
                                        explanation.best.score.config, "predicted"));
}

void print_recipe(const QueryFlags& flags, Question& question) {
  const RecipeAnswer answer = question.recipe(flags.terms);
  if (flags.common.json) return print_json(question.document(answer));
  const std::string text = fmt::format(
      "{}{}\n{}\n", answer.reason, simulated_mark(question.platform()), to_string(answer.recipe));
  print(with_assumptions(text, question.assumptions()));
}

int query(const QueryFlags& flags, const Session& /*session*/) {
  Question question(flags.question);
  if (flags.family) {
    print_recipe(flags, question);
    return kDone;
  }
  const Answer answer = question.answer(flags.terms);
  std::optional<Explanation> explanation;
  if (flags.explain) {
    explanation = explain(question.model(), question.problem(), question.launch());
  }
  if (explanation && !flags.trace.empty()) {
    write_file(flags.trace, trace_of(*explanation, question));
  }
  if (flags.common.json) {
    OrderedJson document = question.document(answer);
    if (explanation) document["explanation"] = document_of(*explanation);
    print_json(document);
  } else {
    const auto ring = question.nccl_ring(answer);
    std::string text = fmt::format(
        "{}: {}\n{}\npredicted {}, measured {}, sequential {}{}{}\n"
        "NVLink multicast: {}\n",
        to_string(answer.source), answer.reason, to_string(answer.config),
        time_text(answer.predicted), time_text(answer.measured), time_text(answer.baseline),
        ring ? fmt::format(", GEMM and NCCL's ring {}", time_text(ring)) : "",
        simulated_mark(question.platform()), question.multicast(answer));
    if (explanation) text += "\n" + in_words(*explanation, question);
    print(with_assumptions(text, question.assumptions()));
  }
  return kDone;
}

}  // namespace

void add_query(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "query",
      "Answer from a database: exact, predicted or baseline, with the reason",
      "overlaptune query --db f.db --problem gemm_all_reduce:4k,8k,3584:bf16:8 --json", query);
  add_question_flags(command, flags.question);
  add_parsed(command, "--strategies NAME,...", flags.terms.strategies, parse_strategies,
             "Strategies that may answer (default: all)");
  add_parsed(command, "--free-sms N", flags.terms.free_sms,
             whole_number(0, std::numeric_limits<int>::max()),
             "SMs that plans leave free (default: none)");
  auto* explain = command.add_flag(
      "--explain", flags.explain,
      "Also the best config of all under the model alone, its timeline, and why it won");
  command
      .add_flag("--family", flags.family,
                "The recipe of the weight: a config for each range of rows, up to the problem's m")
      ->excludes(explain);
  add_text(command, "--trace FILE", flags.trace,
           "Chrome trace of that timeline to write, for ui.perfetto.dev")
      ->needs(explain);
}

}  // namespace overlaptune::cli
