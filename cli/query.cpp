// overlaptune query: prints the best known config of one problem.

#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/flags/problem_flags.hpp"
#include "cli/flags/question.hpp"
#include "cli/output/explanation_output.hpp"
#include "cli/output/origin.hpp"
#include "reports/json.hpp"

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
