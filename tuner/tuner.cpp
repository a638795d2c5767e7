#include "tuner/tuner.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

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

/// A run on its way through the batches of its problems.
class BatchedRun {
 public:
  BatchedRun(Machine& machine, Store& store, const TuningRun& run,
             std::span<const Problem> problems, const TuneOptions& options, RunMonitor& monitor,
             TuneReport& report)
      : machine_(machine),
        store_(store),
        run_(run),
        problems_(problems),
        options_(options),
        monitor_(monitor),
        report_(report),
        stored_(store, run, problems, options.launches),
        keeper_(machine, store, run) {
    for (const Problem& problem : problems) {
      for (const Launch launch : options.launches) shares_ += stored_.is_short(problem, launch);
    }
  }

  /// Probes and tunes batch after batch, until the monitor says stop.
  Expected<void> run() {
    for (std::size_t begin = 0; begin < problems_.size(); begin += options_.batch) {
      const auto batch =
          problems_.subspan(begin, std::min(options_.batch, problems_.size() - begin));
      if (options_.batch < problems_.size()) {
        spdlog::info("problems {} to {} of {}", begin + 1, begin + batch.size(), problems_.size());
      }
      const auto probed = probe_missing(machine_, store_, run_, batch, options_, monitor_);
      if (!probed) return error_of(probed);
      if (monitor_.stopped()) return {};
      const bool is_behind = stored_.has_any(problems_.subspan(begin + batch.size()));
      if (const auto tuned = tune_batch(begin, batch, is_behind); !tuned) return error_of(tuned);
      if (monitor_.stopped()) return {};
    }
    return {};
  }

 private:
  /// Tunes each problem of a batch under each launch. Where the run has been at later batches,
  /// finished problems keep their winners.
  Expected<void> tune_batch(std::size_t begin, std::span<const Problem> batch, bool is_behind) {
    std::vector<std::pair<const Problem*, Launch>> left;
    for (const Problem& problem : batch) {
      for (const Launch launch : options_.launches) {
        auto winner = is_behind ? stored_.finished(problem, launch) : std::nullopt;
        if (!winner) {
          left.emplace_back(&problem, launch);
          continue;
        }
        report_.resumed += static_cast<int>(store_.candidates(run_.id, problem, launch).size());
        report_.winners.push_back(std::move(*winner));
      }
    }
    if (left.empty()) return {};
    auto prepared = fit_stored(machine_, store_, run_, problems_.first(begin), options_.launches);
    if (!prepared) return error_of(prepared);
    monitor_.begin_stage(left.size() * most_candidates());
    for (const auto& [problem, launch] : left) {
      const auto tuned = tune_one(*prepared, *problem, launch);
      if (!tuned) return error_of(tuned);
      if (monitor_.stopped()) return {};
    }
    return {};
  }

  Expected<void> tune_one(Prepared& prepared, const Problem& problem, Launch launch) {
    const auto stop = [&] { return monitor_.must_stop(to_string(problem)); };
    auto proposals = Proposals::make(prepared.model, prepared.space, problem, launch,
                                     {.top_k = options_.top_k,
                                      .explore = options_.explore,
                                      .seed = options_.provenance.seed,
                                      .stop = stop});
    if (!proposals) return error_of(proposals);
    if (monitor_.stopped()) return {};
    monitor_.begin_share(std::max<std::size_t>(shares_, 1));
    if (stored_.is_short(problem, launch)) --shares_;
    Kept kept;
    auto judged = judge_and_keep(*proposals, kept);
    if (!judged) return error_of(judged);
    for (std::size_t i = judged->candidates.size(); i < most_candidates(); ++i) {
      monitor_.step_done();
    }
    report_.measured += judged->measured;
    report_.resumed += judged->resumed;
    report_.failed += judged->failed;
    const bool is_known =
        !report_.cut.empty() && report_.cut.back() == problem;  // by its other launch
    if (!judged->finished && monitor_.share_spent() && !is_known) report_.cut.push_back(problem);
    if (kept.winner) report_.winners.push_back(std::move(*kept.winner));
    return {};
  }

  /// Where second runs rule out all that are faster than `sequential`, the model may propose
  /// others.
  Expected<JudgedProblem> judge_and_keep(Proposals& proposals, Kept& kept) {
    JudgedProblem judged;
    for (std::size_t before = 0;; before = judged.candidates.size()) {
      auto more = judge(machine_, store_, run_.id, proposals, monitor_, std::move(judged));
      if (!more) return more;
      judged = std::move(*more);
      if (before > 0 && judged.candidates.size() == before) return judged;
      JudgedProblem left = judged;
      std::erase_if(left.candidates, [&](const Candidate& each) {
        return std::ranges::find(kept.ruled_out, each.config) != kept.ruled_out.end();
      });
      auto now = keeper_.keep(std::move(left), !monitor_.stopped());
      if (!now) return error_of(now);
      for (const Config& config : now->ruled_out) proposals.ruled_out(config);
      kept.winner = std::move(now->winner);
      const bool all_out = !now->ruled_out.empty() && kept.winner &&
                           strategy_of(kept.winner->candidate.config) == kBaseline;
      std::ranges::move(now->ruled_out, std::back_inserter(kept.ruled_out));
      if (!all_out || monitor_.stopped()) return judged;
    }
  }

  /// Candidates of one problem under one launch.
  [[nodiscard]] std::size_t most_candidates() const {
    return static_cast<std::size_t>(1 + options_.top_k + options_.explore);
  }

  Machine& machine_;
  Store& store_;
  const TuningRun& run_;
  std::span<const Problem> problems_;
  const TuneOptions& options_;
  RunMonitor& monitor_;
  TuneReport& report_;
  StoredWork stored_;
  WinnerKeeper keeper_;
  std::size_t shares_ = 0;  ///< problems and launches that still need time
};

}  // namespace

Expected<TuneReport> tune(Machine& machine, Store& store, std::span<const Problem> problems,
                          const TuneOptions& options, const Progress& progress) {
  if (const auto valid = check(machine.platform(), problems); !valid) return error_of(valid);
  if (options.batch == 0) return bad_input("batch = 0: expected 1 or more");
  const PlatformId platform = store.add_platform(machine.platform());
  const auto run = open_run(store, platform, problems, options);
  if (!run) return error_of(run);
  store.add_layer_gemms(run->id, options.gemms);

  TuneReport report{.run = run->id};
  RunMonitor monitor(progress);
  monitor.limit(options.budget);  // probing counts
  BatchedRun batches(machine, store, *run, problems, options, monitor, report);
  if (const auto done = batches.run(); !done) return error_of(done);
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
