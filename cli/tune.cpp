// overlaptune tune: probes what is missing, then finds and validates the best config of each
// problem.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/command.hpp"
#include "cli/flags/machine_flags.hpp"
#include "cli/flags/problem_flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/origin.hpp"
#include "cli/output/progress.hpp"
#include "query/answer.hpp"
#include "query/stored_fit.hpp"
#include "reports/json.hpp"
#include "reports/products.hpp"
#include "reports/winners.hpp"
#include "tuner/tuner.hpp"

namespace overlaptune::cli {
namespace {

constexpr int kMostCandidates = 100'000;

struct TuneFlags {
  CommonFlags common{};
  MachineFlags machine{};
  WorkloadFlags workload{};
  std::string database{};
  TuneOptions options{};
};

OrderedJson document(const TuneFlags& flags, const Platform& platform, const Workload& work,
                     const TuneReport& report) {
  OrderedJson winners = OrderedJson::array();
  for (const Winner& winner : report.winners) {
    winners.push_back(json_of(winner));
    winners.back()["layer_gemms"] = json_of(products_of(winner.candidate.problem, work.gemms));
  }
  OrderedJson cut = OrderedJson::array();
  for (const Problem& problem : report.cut) cut.push_back(to_string(problem));
  OrderedJson document{{"database", flags.database},
                       {"platform", platform.name},
                       {"fingerprint", fingerprint(platform)},
                       {"seed", flags.common.seed},
                       {"run", report.run},
                       {"problems", work.problems.size()},
                       {"measured", report.measured},
                       {"resumed", report.resumed},
                       {"failed", report.failed},
                       {"stopped", report.stopped},
                       {"cut", std::move(cut)},
                       {"notes", work.notes},
                       {"winners", std::move(winners)}};
  add_origin(document, platform);
  add_assumptions(document, {work.assumptions, work.assumed_dense});
  return document;
}

std::string text(const TuneFlags& flags, const Platform& platform, const Workload& work,
                 const TuneReport& report, const std::string& program) {
  std::string text =
      report.winners.empty()
          ? ""
          : to_markdown(with_machine(winners_table(report.winners, work.gemms), platform)) + "\n";
  text += fmt::format("{}: {} candidates measured, {} found in the database, {} failed{}\n",
                      full_name(platform), report.measured, report.resumed, report.failed,
                      report.stopped ? "; stopped before the end" : "");
  text += fmt::format("Database: {}\n", flags.database);
  if (report.winners.empty()) return text;
  const Candidate& winner = report.winners.front().candidate;
  return text + fmt::format(
                    "Next:\n"
                    "  {4} report --db {0}\n"
                    "  {4} evaluate --db {0}\n"
                    "  {4} query --db {0} --problem {1} --platform {2}{3}\n",
                    flags.database, to_string(winner.problem), fingerprint(platform),
                    winner.launch == Launch::graph
                        ? ""
                        : fmt::format(" --launch {}", to_string(winner.launch)),
                    program);
}

int tune(const TuneFlags& flags, const Session& session) {
  // All input is checked before the database is touched.
  const Workload work = read_workload(flags.workload);
  const auto machine = open(flags.machine, flags.common);
  const Platform& platform = machine->platform();
  for (const Problem& problem : work.problems) {
    const auto fitting = fits(problem, platform);
    if (!fitting) refuse("problem {}: {}", to_string(problem), fitting.error().message);
  }
  catch_interrupts();
  Store store(flags.database, Access::create);
  warn_if_simulated(flags.machine, *machine);
  say_what_nodes_leave_out(platform);
  for (const std::string& note : work.notes) spdlog::info("{}", note);
  spdlog::info("tuning {} problems on {}", work.problems.size(), full_name(platform));

  TuneOptions options = flags.options;
  options.provenance = provenance(session, flags.common);
  options.gemms = work.gemms;
  const TuneReport report = [&] {
    ProgressBar bar;
    return value_or_throw(
        overlaptune::tune(*machine, store, work.problems, options, bar.callback()));
  }();
  store.confirm_place();
  store_fits(store);
  print(flags.common.json ? json_text(document(flags, platform, work, report))
                          : marked_lines(text(flags, platform, work, report, session.program),
                                         {work.assumptions, work.assumed_dense}));
  if (!report.stopped) return kDone;
  if (!report.cut.empty()) {
    spdlog::warn("too little time for all candidates of {} of {} problems; the first is {}",
                 report.cut.size(), work.problems.size(), to_string(report.cut.front()));
  }
  spdlog::warn("stopped by {}: --resume with the same request goes on from here",
               interrupted() != 0 ? "a signal" : "--budget");
  return interrupted() != 0 ? kSignalBase + interrupted() : kDone;
}

}  // namespace

void add_tune(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "tune", "Find and validate the best config of each problem",
      "overlaptune tune --machine sim:h200-nvlink-x8 --db f.db \\\n"
      "    --model examples/models/llama-3-70b.json --tp 8 --tokens 1k,4k,16k --sequence-parallel",
      tune);
  add_machine_flags(command, flags.machine);
  add_database_flag(command, flags.database);
  add_workload_flags(command, flags.workload);
  TuneOptions& options = flags.options;
  add_parsed(command, "--top-k K", options.top_k, whole_number(1, kMostCandidates),
             "Most candidates a problem that the model proposes (8)");
  add_parsed(command, "--explore N", options.explore, whole_number(0, kMostCandidates),
             "Candidates a problem drawn at random without asking the model (0)");
  add_parsed(command, "--budget TIME", options.budget, parse_duration,
             "Measure nothing new after this long, probes included, as in 90s, 5m, 2h; problems "
             "share what probing leaves");
  command.add_flag_callback(
      "--quick-probe", [&options] { options.probes = ProbeDepth::quick; },
      "Where probes are missing, measure fewer of them");
  command.add_flag("--resume", options.resume,
                   "Continue the last tuning run, which must be of the same request");
  add_parsed(command, "--launch LAUNCH,...", options.launches, list_of(parse_name<Launch>),
             "How configs are launched (graph); exclusive_ ones are those of exclusive worlds");
}

}  // namespace overlaptune::cli
