// overlaptune predict: asks the model alone, and shows its timeline and its reasons.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/explain.hpp"
#include "cli/origin.hpp"
#include "cli/problem_flags.hpp"
#include "cli/question.hpp"
#include "reports/json.hpp"
#include "reports/trace.hpp"

namespace overlaptune::cli {
namespace {

struct PredictFlags {
  CommonFlags common{};
  QuestionFlags question{};
  std::string trace{};
};

Table timeline_table(const Timeline& timeline) {
  Table table{.name = "timeline",
              .columns = {{"group"}, {"ready us"}, {"start us"}, {"end us"}, {"exposed us"}}};
  for (const GroupTimes& group : timeline.groups) {
    table.rows.push_back({std::int64_t{group.group}, group.ready.count(), group.start.count(),
                          group.end.count(), group.exposed.count()});
  }
  return table;
}

std::string trace(const Question& question, const Explanation& explanation) {
  std::vector<TracedRun> runs;
  for (const Explained* row : {&explanation.best, &explanation.baseline}) {
    if (!runs.empty() && row->score.config == explanation.best.score.config) break;
    runs.push_back(traced_run(question.problem(), row->score.config, row->prediction.timeline));
  }
  return chrome_trace(runs, trace_title(question.problem(), question.platform(),
                                        explanation.best.score.config, "predicted"));
}

int predict(const PredictFlags& flags, const Session& /*session*/) {
  Question question(flags.question);
  const Explanation explanation = explain(question.model(), question.problem(), question.launch());
  const Prediction& best = explanation.best.prediction;
  const LearnedScore& score = explanation.best.score;
  const LearnedScore& baseline = explanation.baseline.score;
  const Answer answer{.source = Source::predicted,
                      .reason = fmt::format("the fastest under the model among all configs; bound "
                                            "by the {}, {:.1f} us of communication exposed",
                                            bound_by(best), exposed(best).count()),
                      .config = score.config,
                      .predicted = score.time(),
                      .baseline = baseline.time()};
  if (!flags.trace.empty()) write_file(flags.trace, trace(question, explanation));
  if (flags.common.json) {
    OrderedJson document = question.document(answer);
    document["predicted_p10_us"] = score.p10().count();
    document["predicted_p90_us"] = score.p90().count();
    document["analytic_us"] = score.analytic.count();
    document["learned_from"] = explanation.learned_from;
    document["gemm_end_us"] = best.timeline.gemm_end.count();
    document["timeline"] = json_of(best.timeline);
    document["alternatives"] = alternatives_json(explanation);
    print_json(document);
    return kDone;
  }
  const std::string text = fmt::format(
      "{0} on {1}, {2} launch\n{3}\npredicted {4:.1f} us (p10 {5:.1f}, p90 {6:.1f}), sequential "
      "{7:.1f} us{8}\n"
      "{9:.1f} us by the analytic model, {10:+.1f} us learned from {11} measured configs{8}\n"
      "{12}{8}\n\n"
      "By the analytic model the GEMM ends at {13:.1f} us{8}.\n\n{14}\n{15}",
      to_string(question.problem()), full_name(question.platform()), to_string(question.launch()),
      to_string(score.config), score.time().count(), score.p10().count(), score.p90().count(),
      baseline.time().count(), simulated_mark(question.platform()), score.analytic.count(),
      (score.time() - score.analytic).count(), explanation.learned_from, answer.reason,
      best.timeline.gemm_end.count(),
      to_markdown(with_machine(timeline_table(best.timeline), question.platform())),
      to_markdown(with_machine(table(explanation), question.platform())));
  print(with_assumptions(text, question.assumptions()));
  return kDone;
}

}  // namespace

void add_predict(CLI::App& root, Session& session) {
  auto flags = std::make_shared<PredictFlags>();
  CLI::App* command = add_command(
      root, "predict", "The model alone: best config, its timeline, and why it won",
      "overlaptune predict --db f.db --model examples/models/llama-3-70b.json --layer down \\\n"
      "    --tokens 16k --tp 8 --sequence-parallel",
      flags->common);
  add_question_flags(*command, flags->question);
  command->add_option("--trace", flags->trace, "Chrome trace to write, for ui.perfetto.dev")
      ->type_name("FILE");
  on_parsed(*command, session, flags, predict);
}

}  // namespace overlaptune::cli
