// overlaptune evaluate: judges the predictions and choices of the model.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/command.hpp"
#include "cli/evaluate_held_out.hpp"
#include "cli/evaluate_untuned.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/origin.hpp"
#include "cli/output/progress.hpp"
#include "core/config/work.hpp"
#include "reports/quality/rerun.hpp"
#include "tuner/leave_one_out.hpp"
#include "tuner/validate.hpp"

namespace overlaptune::cli {
namespace {

struct EvaluateFlags {
  CommonFlags common{};
  std::string database{};
  std::string platform{};
  int shortlist = 5;
  MachineFlags machine{};
  int again = 0;
  bool leave_one_out = false;
  int untuned = 0;
  HeldOutFlags held_out{};
};

/// The median of the paired ratio to `sequential` for each result; NaN where it is not valid.
std::vector<double> ratios_to_sequential(const std::vector<RunResult>& results) {
  std::vector<double> ratios;
  for (const RunResult& result : results) {
    const auto speedup = paired_speedup(results.front(), result);
    ratios.push_back(speedup ? 1 / speedup->median : std::nan(""));
  }
  return ratios;
}

/// Runs the picks and the fastest configs of each problem once more, side by side.
int run_again(const EvaluateFlags& flags) {
  const auto machine = open(flags.machine, flags.common);
  const Store store(flags.database, Access::read);
  const StoredPlatform platform = value_or_throw(store.platform(machine->platform()));
  const auto list = reruns(take_snapshot(store), platform.id, flags.shortlist, flags.again);
  if (list.empty()) {
    refuse("--db {}: no validated candidate of {}: run `overlaptune tune` into this database first",
           flags.database, full_name(machine->platform()));
  }
  catch_interrupts();
  std::vector<TiledKernel> kernels;
  for (const Rerun& rerun : list) {
    for (const Config& config : rerun.configs) {
      const auto work = Work::make(rerun.problem, config, machine->capabilities());
      if (!work) continue;
      if (const auto kernel = work->kernel()) kernels.push_back(*kernel);
    }
  }
  value_or_throw(machine->prepare(kernels));
  std::vector<std::vector<double>> ratios;
  {
    ProgressBar bar;
    const Progress progress = bar.callback();
    for (const Rerun& rerun : list) {
      if (!progress(ratios.size(), list.size(), to_string(rerun.problem))) {
        return kSignalBase + interrupted();
      }
      const RunOptions options{
          .launch = rerun.launch, .repetitions = 15, .expected = rerun.predicted};
      ratios.push_back(ratios_to_sequential(
          value_or_throw(machine->run(rerun.problem, rerun.configs, options))));
    }
  }
  const RegretSummary regret = regret_of(list, ratios);
  if (regret.problems == 0) {
    throw Failure(ErrorKind::nothing_validated,
                  "evaluate: none of the configs that were run again is valid here");
  }
  const Evaluation again{
      .platform = full_name(machine->platform()), .shortlist = flags.shortlist, .regret = regret};
  const Table summary = regret_table(std::span(&again, 1));
  if (!flags.common.json) {
    print(to_markdown(summary));
    return kDone;
  }
  OrderedJson rows = OrderedJson::array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    OrderedJson configs = OrderedJson::array();
    for (std::size_t j = 0; j < list[i].configs.size(); ++j) {
      configs.push_back(
          {{"config", to_string(list[i].configs[j])}, {"time_over_sequential", ratios[i][j]}});
    }
    rows.push_back({{"problem", to_string(list[i].problem)},
                    {"launch", to_string(list[i].launch)},
                    {"first_choice", list[i].first_choice},
                    {"of_shortlist", list[i].of_shortlist},
                    {"configs", std::move(configs)}});
  }
  print_json(OrderedJson{{"summary", to_json_rows(summary)}, {"problems", std::move(rows)}});
  return kDone;
}

Failure no_candidate(const EvaluateFlags& flags) {
  return {ErrorKind::bad_input,
          fmt::format("--db {}: no validated candidate: run `overlaptune tune` into this "
                      "database first",
                      flags.database)};
}

/// Predictions by models that do not know the problem, and how they fared.
struct Judged {
  Evaluation evaluation{};
  int inside = 0;  ///< measured times between the p10 and the p90 of their predictions
  int count = 0;
  ChoiceSummary choices{};
};

Judged judged_without(const Snapshot& stored, PlatformId platform, Learning learning,
                      int shortlist) {
  const auto record = std::ranges::find(stored.platforms, platform,
                                        [](const PlatformRecord& each) { return each.stored.id; });
  PlatformResults results{.platform = record->stored.platform,
                          .measurements = record->measurements};
  std::copy_if(stored.candidates.begin(), stored.candidates.end(),
               std::back_inserter(results.candidates),
               [&](const auto& row) { return row.platform == platform; });
  if (results.candidates.empty()) return {};
  auto left = value_or_throw(overlaptune::leave_one_out(results, learning));
  Judged judged{.inside = left.inside,
                .count = static_cast<int>(left.candidates.size()),
                .choices = summary_of(left.choices)};
  Snapshot snapshot = stored;
  snapshot.candidates = std::move(left.candidates);
  judged.evaluation = overlaptune::evaluate(snapshot, platform, shortlist);
  return judged;
}

std::string tables_of(const Evaluation& evaluation) {
  const std::span<const Evaluation> one(&evaluation, 1);
  return to_markdown(error_table(one)) + "\n" + to_markdown(regret_table(one));
}

/// Judges models that are fitted anew without each problem.
int leave_one_out(const EvaluateFlags& flags, const Snapshot& snapshot, PlatformId platform) {
  const Judged probes = judged_without(snapshot, platform, Learning::off, flags.shortlist);
  const Judged learned = judged_without(snapshot, platform, Learning::on, flags.shortlist);
  if (learned.count == 0) throw no_candidate(flags);
  const double inside = static_cast<double>(learned.inside) / learned.count;
  const ChoiceSummary& choices = learned.choices;
  if (flags.common.json) {
    OrderedJson document = {{"probes_alone", json_of(probes.evaluation)},
                            {"learned", json_of(learned.evaluation)}};
    document["learned"]["inside_p10_to_p90"] = inside;
    document["learned"]["choices"] = {{"left_sequential", choices.left},
                                      {"slower_than_sequential", choices.slower},
                                      {"most_slower_percent", 100 * choices.most_slower},
                                      {"stayed_sequential", choices.stayed},
                                      {"stayed_loss_percent", 100 * choices.stayed_loss}};
    print_json(document);
    return kDone;
  }
  print(
      fmt::format("Predictions from probes alone, without those of the problem's own sizes:\n\n{}\n"
                  "Predictions that also learn from the other problems' candidates:\n\n{}\n"
                  "{:.0f} % of {} measured times on {} lie between the p10 and the p90 that were "
                  "predicted.\n"
                  "Answers: {} are not sequential, {} of them over 2 % slower than it (most {:.1f} "
                  "%); {} are, and lose {:.1f} % in the mean.\n",
                  tables_of(probes.evaluation), tables_of(learned.evaluation), 100 * inside,
                  learned.count, learned.evaluation.platform, choices.left, choices.slower,
                  100 * choices.most_slower, choices.stayed, 100 * choices.stayed_loss));
  return kDone;
}

/// Measures the answers for problems that were not tuned.
int untuned(const EvaluateFlags& flags) {
  const auto machine = open(flags.machine, flags.common);
  warn_if_simulated(flags.machine, *machine);
  const auto results = run_untuned(*machine, flags.database, flags.untuned, flags.common.seed);
  const Table summary = untuned_summary(results);
  const Table problems = untuned_table(results);
  if (flags.common.json) {
    OrderedJson document{{"summary", to_json_rows(summary)}, {"problems", to_json_rows(problems)}};
    add_origin(document, machine->platform());
    print_json(document);
  } else {
    print(to_markdown(with_machine(problems, machine->platform())) + "\n" +
          to_markdown(with_machine(summary, machine->platform())));
  }
  return interrupted() != 0 ? kSignalBase + interrupted() : kDone;
}

int evaluate(const EvaluateFlags& flags, const Session& /*session*/) {
  const bool measures = flags.again > 0 || flags.untuned > 0 || flags.held_out.collectives;
  if (!flags.platform.empty() && measures) {
    refuse(
        "--platform: not beside --again, --untuned or --held-out, which judge the platform of "
        "--machine");
  }
  if (flags.held_out.collectives) {
    return evaluate_held_out(flags.held_out, flags.machine, flags.database, flags.common);
  }
  if (flags.again > 0) return run_again(flags);
  if (flags.untuned > 0) return untuned(flags);
  if (flags.machine.name != MachineFlags{}.name) {
    refuse("--machine: expected only beside --again, --untuned or --held-out");
  }
  const Store store(flags.database, Access::read);
  const PlatformId platform = value_or_throw(store.platform(flags.platform)).id;
  const Snapshot snapshot = take_snapshot(store);
  if (flags.leave_one_out) return leave_one_out(flags, snapshot, platform);
  const Evaluation evaluation = overlaptune::evaluate(snapshot, platform, flags.shortlist);
  if (evaluation.error.count + evaluation.sequential.count == 0) throw no_candidate(flags);
  return print_either(flags.common, json_of(evaluation), tables_of(evaluation));
}

}  // namespace

void add_evaluate(CLI::App& root, Session& session) {
  const auto [command, flags] =
      add_command(root, session, "evaluate",
                  "Errors of the predictions, and regret of the choices made by them",
                  "overlaptune evaluate --db f.db --json", evaluate);
  add_database_flag(command, flags.database);
  add_platform_flag(command, flags.platform);
  add_parsed(command, "--shortlist N", flags.shortlist, whole_number(1, 100'000),
             "How many of the model's proposals a pick may come from (5)");
  add_parsed(command, "--again N", flags.again, whole_number(0, 1000),
             "Run the picks and the N fastest of each problem once more, side by side, on the "
             "machine that was tuned, and judge by that; nothing is stored (0)");
  command.add_flag("--leave-one-out", flags.leave_one_out,
                   "Judge today's models instead of the stored predictions: each problem is "
                   "predicted by models that were fitted without it");
  add_parsed(command, "--untuned N", flags.untuned, whole_number(0, 100'000),
             "Draw N problems between and around the tuned ones, and run the answer for each "
             "beside sequential and beside a short tuning; nothing is stored (0)");
  add_held_out_flags(command, flags.held_out);
  add_machine_flags(command, flags.machine);
}

}  // namespace overlaptune::cli
