// overlaptune evaluate: how good the model's predictions and choices were.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/problem_flags.hpp"
#include "reports/evaluation.hpp"

namespace overlaptune::cli {
namespace {

struct Flags {
  CommonFlags common{};
  std::string database{};
  int shortlist = 5;
};

int evaluate(const Flags& flags, const Session& /*session*/) {
  const Store store(flags.database, Access::read);
  const Evaluation evaluation = overlaptune::evaluate(take_snapshot(store), flags.shortlist);
  if (evaluation.error.count + evaluation.sequential.count == 0) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("--db {}: no validated candidate: run `overlaptune tune` into this "
                              "database first",
                              flags.database));
  }
  if (flags.common.json) {
    print(json_of(evaluation).dump(2) + "\n");
  } else {
    print(to_markdown(error_table(evaluation)) + "\n" + to_markdown(regret_table(evaluation)));
  }
  return kDone;
}

}  // namespace

void add_evaluate(CLI::App& root, Session& session) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = add_command(
      root, "evaluate", "Errors of the predictions, and regret of the choices made by them",
      "overlaptune evaluate --db f.db --json", flags->common);
  add_database_flag(*command, flags->database);
  add_parsed(*command, "--shortlist", flags->shortlist, whole_number(1, 100'000),
             "How many of the model's proposals a pick may come from (5)")
      ->type_name("N");
  on_parsed(*command, session, flags, evaluate);
}

}  // namespace overlaptune::cli
