#include "tuner/tuner.hpp"

#include <utility>

#include <fmt/format.h>

#include "tuner/judge.hpp"
#include "tuner/keep.hpp"
#include "tuner/prepare.hpp"
#include "tuner/propose.hpp"
#include "tuner/run_monitor.hpp"
#include "tuner/tuning_run.hpp"

namespace overlaptune {
namespace {

Expected<void> check(const Platform& platform, std::span<const Problem> problems) {
  if (problems.empty()) return bad_input("tune: no problem given");
  for (const Problem& problem : problems) {
    if (const auto valid = validated(problem); !valid) return error_of(valid);
    if (const auto fitting = fits(problem, platform); !fitting) {
      return bad_input(fmt::format("problem {}: {}", to_string(problem), fitting.error().message));
    }
  }
  return {};
}

/// Tunes each problem under each launch, until the monitor says stop.
Expected<void> tune_all(Machine& machine, Store& store, const TuningRun& run,
                        std::span<const Problem> problems, const TuneOptions& options,
                        RunMonitor& monitor, TuneReport& report) {
  auto prepared = fit_stored(machine, store, run);
  if (!prepared) return error_of(prepared);
  WinnerKeeper keeper(machine, store, run);
  const auto most = static_cast<std::size_t>(1 + options.top_k + options.explore);
  std::size_t left = problems.size() * options.launches.size();
  monitor.begin_stage(left * most);
  for (const Problem& problem : problems) {
    for (const Launch launch : options.launches) {
      const auto stop = [&] { return monitor.must_stop(to_string(problem)); };
      auto proposals = Proposals::make(prepared->model, prepared->space, problem, launch,
                                       {.top_k = options.top_k,
                                        .explore = options.explore,
                                        .seed = options.provenance.seed,
                                        .stop = stop});
      if (!proposals) return error_of(proposals);
      if (monitor.stopped()) return {};
      monitor.begin_share(left--);
      auto judged = judge(machine, store, run.id, *proposals, monitor);
      if (!judged) return error_of(judged);
      for (std::size_t i = judged->candidates.size(); i < most; ++i) monitor.step_done();
      report.measured += judged->measured;
      report.resumed += judged->resumed;
      report.failed += judged->failed;
      const bool is_known =
          !report.cut.empty() && report.cut.back() == problem;  // by its other launch
      if (!judged->finished && monitor.share_spent() && !is_known) report.cut.push_back(problem);
      auto winner = keeper.keep(std::move(*judged), !monitor.stopped());
      if (!winner) return error_of(winner);
      if (*winner) report.winners.push_back(std::move(**winner));
      if (monitor.stopped()) return {};
    }
  }
  return {};
}

}  // namespace

Expected<TuneReport> tune(Machine& machine, Store& store, std::span<const Problem> problems,
                          const TuneOptions& options, const Progress& progress) {
  if (const auto valid = check(machine.platform(), problems); !valid) return error_of(valid);
  const PlatformId platform = store.add_platform(machine.platform());
  const auto run = open_run(store, platform, problems, options);
  if (!run) return error_of(run);
  store.add_layer_gemms(run->id, options.gemms);

  TuneReport report{.run = run->id};
  RunMonitor monitor(progress);
  const auto probed = probe_missing(machine, store, *run, problems, options, monitor);
  if (!probed) return error_of(probed);
  if (!monitor.stopped()) {
    const auto tuned = tune_all(machine, store, *run, problems, options, monitor, report);
    if (!tuned) return error_of(tuned);
  }
  report.stopped = monitor.stopped() || !report.cut.empty();
  if (report.stopped) return report;
  monitor.end_stage("candidates");
  store.finish_tuning_run(run->id);
  if (report.winners.empty()) {
    return tl::make_unexpected(
        Error{ErrorKind::nothing_validated,
              fmt::format("tune: none of the {} candidates of {} problems is valid; `overlaptune "
                          "report` lists the reasons",
                          report.measured + report.resumed, problems.size())});
  }
  return report;
}

}  // namespace overlaptune
