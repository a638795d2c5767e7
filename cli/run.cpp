// overlaptune run: runs one config of one problem beside `sequential`, and traces the GPUs.

#include <optional>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/flags/machine_flags.hpp"
#include "cli/flags/problem_flags.hpp"
#include "cli/output/origin.hpp"
#include "core/base/environment.hpp"
#include "core/busy.hpp"
#include "core/statistics.hpp"
#include "reports/json.hpp"
#include "reports/trace.hpp"
#include "tuner/validate.hpp"

namespace overlaptune::cli {
namespace {

constexpr int kMostRepetitions = 100'000;

struct RunFlags {
  CommonFlags common{};
  MachineFlags machine{};
  ProblemFlags asked{};
  Problem problem{};  ///< that `asked` names
  std::optional<Config> config{};
  std::string database{};
  Launch launch = Launch::graph;
  int repetitions = RunOptions{}.repetitions;
  RunPhase phase = RunPhase::steady;
  std::string trace{};
};

struct Outcome {
  Platform platform{};
  Config config{};
  RunResult result{};
  RunResult sequential{};
  std::vector<double> speedups{};  ///< paired ratios; empty unless both are valid
  /// The config, then `sequential`; empty unless it was asked for and could be traced.
  std::vector<TracedRun> traces{};
  [[nodiscard]] bool traced() const { return !traces.empty(); }
};

/// The winner that the database has for a platform with this fingerprint.
Config winner_of(const RunFlags& flags, const std::string& database, const Platform& platform) {
  const Store store(database, Access::read);
  const auto stored = store.platform(platform);
  const auto winner = stored ? store.winner(stored->id, flags.problem, flags.launch) : std::nullopt;
  if (!winner) {
    refuse(
        "{}: no winner of {} by {} launch on {}: run `overlaptune tune` into it first, or give "
        "--config{}",
        database, to_string(flags.problem), to_string(flags.launch), full_name(platform),
        stored ? "" : fmt::format(" ({})", stored.error().message));
  }
  return winner->winner.candidate.config;
}

Config config_of(const RunFlags& flags, const Platform& platform) {
  if (flags.config) return *flags.config;
  if (!flags.database.empty()) return winner_of(flags, flags.database, platform);
  if (const auto named = environment().database) return winner_of(flags, *named, platform);
  refuse(
      "no config given: expected --config 'LINE', as `overlaptune query` prints it, or --db with a "
      "winner of this problem");
}

/// The work of the GPUs, as the machine recorded it, or else by its timeline; none where the result
/// has neither.
std::optional<TracedRun> traced(const Problem& problem, const Config& config,
                                const RunResult& result) {
  if (result.activities.empty() && !result.timeline) return std::nullopt;
  TracedRun run = traced_run(problem, config, result.timeline.value_or(Timeline{}));
  if (!result.activities.empty()) run.activities = result.activities;
  return run.activities.empty() ? std::nullopt : std::optional(std::move(run));
}

Outcome measure(const RunFlags& flags) {
  const auto machine = open(flags.machine, flags.common);
  Outcome outcome{.platform = machine->platform()};
  value_or_throw(fits(flags.problem, outcome.platform));
  outcome.config = config_of(flags, outcome.platform);
  warn_if_simulated(flags.machine, *machine);
  std::vector<Config> configs{Config{}};
  if (outcome.config != configs.front()) configs.push_back(outcome.config);
  auto results = value_or_throw(machine->run(flags.problem, configs,
                                             {.launch = flags.launch,
                                              .repetitions = flags.repetitions,
                                              .timeline = !flags.trace.empty(),
                                              .phase = flags.phase,
                                              .own_memory = flags.phase != RunPhase::steady}));
  outcome.sequential = results.front();
  outcome.result = std::move(results.back());
  outcome.speedups = paired_ratios(outcome.sequential, outcome.result);
  if (flags.trace.empty()) return outcome;
  for (const auto& [config, result] : {std::pair(&outcome.config, &outcome.result),
                                       std::pair(&configs.front(), &outcome.sequential)}) {
    if (outcome.traced() && outcome.config == configs.front()) break;
    auto run = traced(flags.problem, *config, *result);
    if (!run) break;
    outcome.traces.push_back(std::move(*run));
  }
  return outcome;
}

std::optional<Summary> summary_of(const RunResult& result) {
  const auto times = slowest_rank(result);
  return times.empty() ? std::nullopt : std::optional(summarize(times));
}

OrderedJson document(const RunFlags& flags, const Outcome& outcome) {
  OrderedJson json{
      {"platform", outcome.platform.name},        {"fingerprint", fingerprint(outcome.platform)},
      {"launch", to_string(flags.launch)},        {"phase", to_string(flags.phase)},
      {"problem", json_of(flags.problem)},        {"config", json_of(outcome.config)},
      {"config_line", to_string(outcome.config)}, {"verdict", to_string(outcome.result.verdict)},
      {"reason", outcome.result.reason}};
  const auto add_times = [&](const std::string& name, const RunResult& result) {
    const auto summary = summary_of(result);
    json[name + "_us"] = json_of(part_of(summary, &Summary::median));
    json[name + "_p10_us"] = json_of(part_of(summary, &Summary::p10));
    json[name + "_p90_us"] = json_of(part_of(summary, &Summary::p90));
  };
  add_times("measured", outcome.result);
  json["repetitions"] = slowest_rank(outcome.result).size();
  add_times("sequential", outcome.sequential);
  json["sequential_verdict"] = to_string(outcome.sequential.verdict);
  for (const auto& [name, q] :
       {std::pair("speedup", 0.5), {"speedup_p10", 0.1}, {"speedup_p90", 0.9}}) {
    json[name] = json_of(std::optional(quantile(outcome.speedups, q)));
  }
  const auto interval = median_interval(outcome.speedups);
  json["speedup_low"] = interval ? OrderedJson(interval->low) : OrderedJson();
  json["speedup_high"] = interval ? OrderedJson(interval->high) : OrderedJson();
  json["trace"] = outcome.traced() ? OrderedJson(flags.trace) : OrderedJson();
  json["busy"] =
      outcome.traced() ? json_of(busy(outcome.traces.front().activities).mean) : OrderedJson();
  add_origin(json, outcome.platform);
  return json;
}

Table times_table(const Outcome& outcome) {
  Table table{.name = "times", .columns = columns_of("config, verdict, median us, p10 us, p90 us")};
  const auto add = [&](const Config& config, const RunResult& result) {
    const auto summary = summary_of(result);
    table.rows.push_back(
        {cell(strategy_of(config)), cell(result.verdict), cell(part_of(summary, &Summary::median)),
         cell(part_of(summary, &Summary::p10)), cell(part_of(summary, &Summary::p90))});
  };
  add(outcome.config, outcome.result);
  if (outcome.config != Config{}) add(Config{}, outcome.sequential);
  return table;
}

std::string text(const RunFlags& flags, const Outcome& outcome) {
  std::string text = fmt::format(
      "{} on {}, {} launch{}\n{}\n{}", to_string(flags.problem), full_name(outcome.platform),
      to_string(flags.launch),
      flags.phase == RunPhase::steady ? "" : fmt::format(", phase {}", to_string(flags.phase)),
      to_string(outcome.config), to_markdown(with_machine(times_table(outcome), outcome.platform)));
  if (!outcome.speedups.empty()) {
    text += fmt::format("Speedup over sequential, paired: {:.3f} (p10 {:.3f}, p90 {:.3f}){}\n",
                        quantile(outcome.speedups, 0.5), quantile(outcome.speedups, 0.1),
                        quantile(outcome.speedups, 0.9), simulated_mark(outcome.platform));
  }
  if (!outcome.traced()) return text;
  const BusyTimes times = busy(outcome.traces.front().activities).mean;
  const auto overlapped = overlap_fraction(times);
  return text + fmt::format(
                    "GEMM busy {:.1f} us, collective busy {:.1f} us, both {:.1f} us{}, exposed "
                    "{:.1f} us{}\nTrace: {} (for ui.perfetto.dev)\n",
                    times.gemm.count(), times.collective.count(), times.both.count(),
                    overlapped ? fmt::format(" ({:.0f} % of the shorter)", 100 * *overlapped) : "",
                    times.exposed.count(), simulated_mark(outcome.platform), flags.trace);
}

int run(const RunFlags& given, const Session& /*session*/) {
  RunFlags flags = given;
  const AskedProblem asked = read_problem(flags.asked);
  flags.problem = asked.problem;
  if (!flags.trace.empty() && flags.phase != RunPhase::steady) {
    refuse(
        "--trace beside --phase {}: expected --phase steady, the only one that is traced; leave "
        "one of them out",
        to_string(flags.phase));
  }
  const Outcome outcome = measure(flags);
  if (outcome.traced()) {
    write_file(flags.trace,
               chrome_trace(outcome.traces,
                            trace_title(flags.problem, outcome.platform, outcome.config, "run")));
  }
  if (flags.common.json) {
    OrderedJson json = document(flags, outcome);
    add_assumptions(json, asked.assumptions);
    print_json(json);
  } else {
    print(with_assumptions(text(flags, outcome), asked.assumptions));
  }
  if (outcome.result.verdict != Verdict::valid) {
    throw Failure(ErrorKind::nothing_validated,
                  fmt::format("{} is not valid but {}: {}", to_string(outcome.config),
                              to_string(outcome.result.verdict), outcome.result.reason));
  }
  if (!flags.trace.empty() && !outcome.traced()) {
    refuse(
        "--trace {}: not written: {} does not tell what its GPUs do (on GPUs: is CUPTI "
        "installed?): run without --trace",
        flags.trace, full_name(outcome.platform));
  }
  return kDone;
}

}  // namespace

void add_run(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "run", "Run one config of one problem beside sequential, and trace it",
      "overlaptune run --machine sim:h200-nvlink-x8 --problem gemm_all_reduce:4k,8k,3584:bf16:8 "
      "\\\n"
      "    --config 'chunked ctas=16 chunks=4' --trace trace.json",
      run);
  add_machine_flags(command, flags.machine);
  add_problem_flags(command, flags.asked);
  auto* config = add_parsed(command, "--config LINE", flags.config, parse_config,
                            "The config, as `overlaptune query` prints it");
  // CLI11 counts a flag that the environment sets as given, but --config may be beside that.
  add_database_flag(command, flags.database)
      ->required(false)
      ->envname("")
      ->description(
          fmt::format("Database with a winner of the problem, instead of --config (default: {})",
                      kDatabaseVariable))
      ->excludes(config);
  add_launch_flag(command, flags.launch);
  add_parsed(command, "--repetitions N", flags.repetitions, whole_number(1, kMostRepetitions),
             "Timed repetitions of each (9)");
  add_parsed(command, "--phase PHASE", flags.phase, parse_name<RunPhase>,
             "Conditions, as in the second runs of tune: steady, cold or beside (steady)");
  add_text(command, "--trace FILE", flags.trace, "Chrome trace to write, for ui.perfetto.dev");
}

}  // namespace overlaptune::cli
