#include "cli/evaluate_untuned.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/progress.hpp"
#include "query/snapshot.hpp"

namespace overlaptune::cli {
namespace {

/// The problems of a platform that were tuned, each once.
std::vector<Problem> tuned_problems(const Store& store, PlatformId platform) {
  std::vector<Problem> list;
  for (const StoredWinner& stored : store.winners()) {
    const Problem& problem = stored.winner.candidate.problem;
    if (stored.platform == platform && std::find(list.begin(), list.end(), problem) == list.end()) {
      list.push_back(problem);
    }
  }
  return list;
}

}  // namespace

std::vector<UntunedResult> run_untuned(Machine& machine, const std::string& database, int count,
                                       std::uint64_t seed) {
  constexpr int kTopK = 8;  // most candidates of the short tuning of each problem
  const Store store(database, Access::read);
  const StoredPlatform platform = value_or_throw(store.platform(machine.platform()));
  const auto problems =
      untuned_problems(tuned_problems(store, platform.id), platform.platform, count, seed);
  if (problems.empty()) {
    refuse("--db {}: no winner of {}: run `overlaptune tune` into this database first", database,
           full_name(machine.platform()));
  }
  const AnswerSnapshot answers({database}, {.described = platform.platform});
  // A model of its own learns from the short tunings; the answers must not know them.
  LearnedModel tuning = value_or_throw(learned_model(
      platform.platform, store.measurements(platform.id), store.valid_candidates(platform.id)));
  catch_interrupts();
  std::vector<UntunedResult> results;
  ProgressBar bar;
  const Progress progress = bar.callback();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (!progress(i, problems.size(), to_string(problems[i]))) break;
    const Answer answer = answers.answer(problems[i], Launch::graph);
    if (!answer.predicted) {
      spdlog::warn("{}: left out: {}", to_string(problems[i]), answer.reason);
      continue;
    }
    auto result = overlaptune::run_untuned(machine, tuning, problems[i], Launch::graph,
                                           {answer.config, *answer.predicted}, kTopK);
    if (!result && result.error().kind == ErrorKind::bad_input) {
      spdlog::warn("{}: left out: {}", to_string(problems[i]), result.error().message);
      continue;
    }
    results.push_back(value_or_throw(std::move(result)));
  }
  return results;
}

Table untuned_summary(const std::vector<UntunedResult>& results) {
  const UntunedSummary all = summary_of(results);
  return {.name = "untuned",
          .columns = columns_of(
              "problems, error_mean_percent:2, error_max_percent:2, regret_mean_percent:2, "
              "regret_max_percent:2, speedup:3, slower_than_sequential, failed"),
          .rows = {{cell(all.problems), 100 * all.error_mean, 100 * all.error_most,
                    100 * all.regret_mean, 100 * all.regret_most, all.speedup,
                    cell(all.slower_than_sequential), cell(all.failed)}}};
}

Table untuned_table(const std::vector<UntunedResult>& results) {
  Table table{.name = "untuned_problems",
              .columns = columns_of("problem, answer, verdict, predicted_us, measured_us, "
                                    "error_percent, speedup:3, regret_percent, best")};
  for (const UntunedResult& result : results) {
    const bool valid = result.verdict == Verdict::valid;
    const double none = std::nan("");
    table.rows.push_back({to_string(result.problem), to_string(result.config), cell(result.verdict),
                          result.predicted.count(), valid ? result.measured.count() : none,
                          valid ? 100 * (result.predicted / result.measured - 1) : none,
                          valid ? 1 / result.over_sequential : none,
                          valid ? 100 * (result.over_best - 1) : none, to_string(result.best)});
  }
  return table;
}

}  // namespace overlaptune::cli
