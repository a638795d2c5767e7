#include "tuner/tuner.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/busy.hpp"
#include "core/hash.hpp"
#include "model/search.hpp"
#include "tuner/confirm.hpp"
#include "tuner/explore.hpp"
#include "tuner/layer_probes.hpp"
#include "tuner/validate.hpp"

namespace overlaptune {
namespace {

/// What a run is asked to do; only the same request may be resumed.
std::string request_of(std::span<const Problem> problems, const TuneOptions& options) {
  std::uint64_t hash = fnv1a("");
  for (const Problem& problem : problems) hash = fnv1a(to_string(problem) + "\n", hash);
  std::string launches;
  for (const Launch launch : options.launches) {
    launches += (launches.empty() ? "" : "+") + std::string(to_string(launch));
  }
  return fmt::format("problems={} digest={:016x} top_k={} explore={} launch={} seed={}",
                     problems.size(), hash, options.top_k, options.explore, launches,
                     options.provenance.seed);
}

std::vector<int> rank_counts(std::span<const Problem> problems) {
  std::set<int> counts;
  for (const Problem& problem : problems) counts.insert(problem.ranks);
  return {counts.begin(), counts.end()};
}

std::map<Collective, std::vector<CommSetting>> probed_settings(
    std::span<const Measurement> measurements) {
  std::map<Collective, std::set<CommSetting>> found;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe);
    if (const auto* pair = std::get_if<ConcurrentProbe>(&measurement.probe)) {
      probe = &pair->collective;
    } else if (probe == nullptr || probe->comm_ctas == 0) {
      continue;  // NCCL's own choice may be after a GEMM only
    }
    found[probe->collective].insert({probe->comm_ctas, probe->transport});
  }
  std::map<Collective, std::vector<CommSetting>> settings;
  for (const auto& [collective, set] : found) settings[collective] = {set.begin(), set.end()};
  return settings;
}

std::vector<Measurement> measurements_of(const Store& store, PlatformId platform,
                                         const std::set<Probe>& probes) {
  std::vector<Measurement> found = store.measurements(platform);
  std::erase_if(found, [&](const Measurement& each) { return !probes.contains(each.probe); });
  return found;
}

std::vector<TiledKernel> kernels_of(const std::vector<Candidate>& candidates) {
  std::set<TiledKernel> kernels;
  for (const Candidate& candidate : candidates) {
    if (auto kernel = kernel_of(candidate.problem, candidate.config)) kernels.insert(*kernel);
  }
  return {kernels.begin(), kernels.end()};
}

Expected<void> check(const Machine& machine, std::span<const Problem> problems) {
  if (problems.empty()) return bad_input("tune: no problem given");
  for (const Problem& problem : problems) {
    if (const auto valid = validated(problem); !valid) return tl::make_unexpected(valid.error());
    if (const auto fitting = fits(problem, machine.platform()); !fitting) {
      return bad_input(fmt::format("problem {}: {}", to_string(problem), fitting.error().message));
    }
  }
  return {};
}

/// Everything that stays the same from problem to problem.
class Tuning {
 public:
  Tuning(Machine& machine, Store& store, const Model& model, const TuneOptions& options,
         const Progress& progress, ExploreSpace space, PlatformId platform, TuningRunId run,
         std::size_t problems, std::chrono::steady_clock::time_point started)
      : machine_(machine),
        store_(store),
        model_(model),
        options_(options),
        progress_(progress),
        space_(std::move(space)),
        platform_(platform),
        total_(problems * static_cast<std::size_t>(1 + options.top_k + options.explore)),
        started_(started) {
    report_.run = run;
  }

  /// A problem that does not fit the machine is left out. Error: the machine is lost.
  Expected<void> tune(const Problem& problem, Launch launch) {
    const auto candidates = candidates_of(problem, launch);
    if (!candidates) return tl::make_unexpected(candidates.error());
    if (report_.stopped) return {};
    if (auto ready = machine_.prepare(kernels_of(*candidates)); !ready) {
      return tl::make_unexpected(ready.error());
    }
    std::vector<Candidate> known = store_.candidates(report_.run, problem, launch);
    std::vector<Candidate> measured;
    const Candidate& sequential = candidates->front();
    for (const Candidate& candidate : *candidates) {
      const auto stored = std::find_if(known.begin(), known.end(), [&](const Candidate& other) {
        return other.config == candidate.config;
      });
      if (stored != known.end()) {
        measured.push_back(std::move(*stored));
        known.erase(stored);
        ++report_.resumed;
        ++done_;
        continue;
      }
      if (must_stop(problem)) {
        report_.stopped = true;
        break;
      }
      auto result = validate(machine_, candidate, sequential);
      if (!result && result.error().kind == ErrorKind::bad_input) {
        // It does not fit this machine (memory): the others may.
        spdlog::warn("{}: left out: {}", to_string(problem), result.error().message);
        break;
      }
      if (!result) return tl::make_unexpected(result.error());
      store_.add_candidate(report_.run, *result);
      if (result->verdict != Verdict::valid) {
        ++report_.failed;
        spdlog::debug("{}: {}: {}", to_string(problem), to_string(result->config), result->reason);
      }
      measured.push_back(std::move(*result));
      ++report_.measured;
      ++done_;
    }
    // Of a problem that was not finished any winner is better than none, but not than an earlier
    // one.
    const bool finished = measured.size() == candidates->size();
    // Those that are not proposed any more were measured all the same.
    std::move(known.begin(), known.end(), std::back_inserter(measured));
    if (!finished && store_.winner(platform_, problem, launch)) return {};
    return keep_winner(problem, std::move(measured));
  }

  TuneReport take() && {
    if (!report_.stopped) progress_(total_, total_, "candidates");
    return std::move(report_);
  }
  [[nodiscard]] bool stopped() const { return report_.stopped; }

 private:
  /// Shows how far it is, too.
  [[nodiscard]] bool must_stop(const Problem& problem) const {
    const bool out_of_time =
        options_.budget && std::chrono::steady_clock::now() - started_ > *options_.budget;
    return out_of_time || !progress_(done_, total_, to_string(problem));
  }

  /// `sequential` first, then the shortlist, then what is drawn at random; each config once.
  /// Of no use if the search was stopped.
  Expected<std::vector<Candidate>> candidates_of(const Problem& problem, Launch launch) {
    const auto baseline =
        search(model_, problem, launch, {.best = 1, .strategies = {Strategy::sequential}});
    if (!baseline) return tl::make_unexpected(baseline.error());
    // Near-duplicates are passed over, so more are asked for than are taken.
    constexpr int kSpare = 8;
    const auto stop = [&] { return report_.stopped = report_.stopped || must_stop(problem); };
    const auto scored =
        search(model_, problem, launch, {.best = kSpare * options_.top_k, .stop = stop});
    if (!scored) return tl::make_unexpected(scored.error());

    std::vector<Candidate> list;
    std::set<std::string> seen;
    auto add = [&](const Config& config, Origin origin, std::optional<int> rank,
                   Microseconds predicted) {
      if (!seen.insert(to_string(config)).second) return;
      list.push_back({.problem = problem,
                      .launch = launch,
                      .config = config,
                      .origin = origin,
                      .rank_by_model = rank,
                      .predicted = predicted});
    };
    // `sequential` has a rank too if the model puts it among the best.
    const std::vector<Scored> taken = shortlist(*scored, options_.top_k);
    std::optional<int> baseline_rank;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (taken[i].config == baseline->front().config) baseline_rank = static_cast<int>(i);
    }
    add(baseline->front().config, Origin::baseline, baseline_rank, baseline->front().time);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      add(taken[i].config, Origin::shortlist, static_cast<int>(i), taken[i].time);
    }
    for (const Config& config :
         explore(space_, problem, options_.explore, options_.provenance.seed)) {
      // A setting that was never probed has no prediction and cannot be judged.
      const auto prediction = model_.predict(problem, config, launch);
      if (prediction) add(config, Origin::explore, std::nullopt, prediction->time);
    }
    return list;
  }

  /// The fastest of those that stay faster than `sequential` when they are run longer.
  Expected<void> keep_winner(const Problem& problem, std::vector<Candidate> measured) {
    const Candidate sequential = measured.front();
    if (sequential.verdict != Verdict::valid || !sequential.measured) {
      if (fastest(measured) == nullptr) return {};
      spdlog::warn("{}: no winner, since there is nothing to compare with: sequential is {}: {}",
                   to_string(problem), to_string(sequential.verdict), sequential.reason);
      return {};
    }
    for (;;) {
      const Candidate* best = fastest(measured);
      auto winner = winner_of(*best, sequential);
      if (!winner) return tl::make_unexpected(winner.error());
      // Whatever becomes of the second run, there is a winner.
      if (!store_.winner(platform_, problem, best->launch)) {
        Winner safe = *winner;
        safe.candidate = sequential;
        safe.sequential = sequential.measured->median;
        store_.put_winner(report_.run, safe);
      }
      if (stands(*winner, sequential)) {
        store_.put_winner(report_.run, *winner);
        report_.winners.push_back(std::move(*winner));
        return {};
      }
      measured.erase(measured.begin() + (best - measured.data()));
    }
  }

  Expected<Winner> winner_of(const Candidate& best, const Candidate& sequential) {
    Winner winner{.candidate = best, .sequential = sequential.measured->median};
    // As it ran beside the winner.
    if (best.speedup) winner.sequential = best.measured->median * best.speedup->median;
    const auto gemm = fastest_gemm(machine_, best.problem, {best.config});
    if (!gemm) return tl::make_unexpected(gemm.error());
    winner.gemm_alone = *gemm;
    const auto collective =
        fastest_collective(machine_, best.problem, {sequential.config, best.config});
    if (!collective) return tl::make_unexpected(collective.error());
    winner.collective_alone = *collective;
    return winner;
  }

  /// Runs the winner once more and fills in what that told. False where it fails then, or is slower
  /// than `sequential`. Once stopped nothing more is measured.
  bool stands(Winner& winner, const Candidate& sequential) {
    const Candidate best = winner.candidate;
    if (best.config.strategy == Strategy::sequential || report_.stopped) return true;
    auto confirmed = confirm(machine_, best, sequential, machine_tells_);
    if (machine_tells_ && confirmed && confirmed->candidate.verdict != Verdict::valid) {
      // It may have been the trace.
      confirmed = confirm(machine_, best, sequential, false);
    }
    const auto say = [&](std::string_view what, std::string_view why) {
      spdlog::warn("{}: {}: {}: {}", to_string(best.problem), to_string(best.config), what, why);
    };
    if (!confirmed) {
      say("the winner could not be run once more", confirmed.error().message);
      return true;
    }
    const Candidate& seen = confirmed->candidate;
    if (seen.verdict != Verdict::valid) {
      say("the fastest, but when it was run once more " + std::string(to_string(seen.verdict)),
          seen.reason);
      return false;
    }
    if (!seen.speedup) {
      say("the winner could not be run once more", "nothing to compare it with");
      return true;
    }
    if (seen.speedup->median < 1) {
      spdlog::info("{}: {} was the fastest, but is slower than sequential when it is run longer",
                   to_string(best.problem), to_string(best.config));
      return false;
    }
    winner.candidate = seen;
    winner.sequential = seen.measured->median * seen.speedup->median;
    winner.overlap_fraction = traced_overlap(best, confirmed->activities);
    return true;
  }

  /// Absent where it cannot be told.
  std::optional<double> traced_overlap(const Candidate& best,
                                       const std::vector<Activity>& activities) {
    if (activities.empty()) {
      if (std::exchange(machine_tells_, false)) {
        spdlog::warn(
            "{} does not tell what its GPUs do (is CUPTI installed?): overlap fractions are not "
            "stored",
            machine_.platform().name);
      }
      return std::nullopt;
    }
    const auto fraction = overlap_fraction(busy(activities).mean);
    if (!fraction) {
      spdlog::warn(
          "{}: no GEMM or no collective was seen in the trace of the winner, its overlap fraction "
          "is "
          "not stored: {}",
          to_string(best.problem), to_string(best.config));
    }
    return fraction;
  }

  Machine& machine_;
  Store& store_;
  const Model& model_;
  const TuneOptions& options_;
  const Progress& progress_;
  ExploreSpace space_;
  PlatformId platform_;
  TuneReport report_{};
  bool machine_tells_ = true;  ///< as far as is known, what its GPUs do
  std::size_t done_ = 0;
  std::size_t total_;
  std::chrono::steady_clock::time_point started_;
};

bool has_candidates(const Store& store, TuningRunId run, std::span<const Problem> problems,
                    const TuneOptions& options) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
    return std::any_of(options.launches.begin(), options.launches.end(), [&](Launch launch) {
      return !store.candidates(run, problem, launch).empty();
    });
  });
}

Expected<TuningRunId> run_id(Store& store, PlatformId platform, const std::string& request,
                             const TuneOptions& options) {
  const auto last = options.resume ? store.last_tuning_run(platform) : std::nullopt;
  if (!last) return store.begin_tuning_run(platform, request, options.provenance);
  if (last->request != request) {
    return bad_input(fmt::format(
        "--resume: the last tuning run was another request ({}), this one is ({}): give the same "
        "problems and options, or start a new run without --resume",
        last->request, request));
  }
  return last->id;
}

}  // namespace

Expected<TuneReport> tune(Machine& machine, Store& store, std::span<const Problem> problems,
                          const TuneOptions& options, const Progress& progress) {
  if (const auto valid = check(machine, problems); !valid) {
    return tl::make_unexpected(valid.error());
  }
  const PlatformId platform = store.add_platform(machine.platform());
  const auto run = run_id(store, platform, request_of(problems, options), options);
  if (!run) return tl::make_unexpected(run.error());

  const std::vector<Transport> transports = machine.transports();
  const std::vector<Probe> plan =
      probe_plan(machine.platform(), transports, rank_counts(problems), options.probes);
  bool interrupted = false;
  const auto watched = [&](std::size_t done, std::size_t total, std::string_view what) {
    interrupted = !progress(done, total, what);
    return !interrupted;
  };
  const auto probed = run_probes(machine, store, plan, options.provenance, false, watched);
  if (!probed) return tl::make_unexpected(probed.error());
  if (interrupted) return TuneReport{.run = *run, .stopped = true};

  // What is best after one round of these may be something else. A run that has candidates already
  // had its rounds: more of them would propose other ones.
  const auto started = std::chrono::steady_clock::now();
  const auto stop = [&] {
    const bool late =
        options.budget && std::chrono::steady_clock::now() - started > *options.budget;
    return interrupted || late || !watched(0, problems.size(), "layers");
  };
  constexpr int kLayerRounds = 2;
  constexpr int kLayerTiles = 6;
  const int rounds = has_candidates(store, *run, problems, options) ? 0 : kLayerRounds;
  // Each round follows from those before and from nothing else that is stored: a run that was
  // stopped between asks for the same ones again.
  std::set<Probe> asked(plan.begin(), plan.end());
  for (int round = 0; round < rounds && !stop(); ++round) {
    const auto known = Model::fit(machine.platform(), measurements_of(store, platform, asked));
    if (!known) return tl::make_unexpected(known.error());
    const std::vector<Probe> layers = layer_probes(*known, problems,
                                                   {.launch = options.launches.front(),
                                                    .sms = machine.platform().sms,
                                                    .tiles = kLayerTiles,
                                                    .stop = stop});
    const auto again = run_probes(machine, store, layers, options.provenance, false, watched);
    if (!again) return tl::make_unexpected(again.error());
    asked.insert(layers.begin(), layers.end());
  }
  if (interrupted) return TuneReport{.run = *run, .stopped = true};
  const std::vector<Measurement> measurements = store.measurements(platform);
  const auto model = Model::fit(machine.platform(), measurements);
  if (!model) return tl::make_unexpected(model.error());
  Tuning tuning(machine, store, *model, options, progress,
                {.platform = machine.platform(),
                 .strategies = machine.strategies(),
                 .settings = probed_settings(measurements)},
                platform, *run, problems.size() * options.launches.size(), started);
  for (const Problem& problem : problems) {
    for (const Launch launch : options.launches) {
      if (tuning.stopped()) break;
      if (const auto tuned = tuning.tune(problem, launch); !tuned) {
        return tl::make_unexpected(tuned.error());
      }
    }
  }
  TuneReport report = std::move(tuning).take();
  if (report.stopped) return report;
  store.finish_tuning_run(*run);
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
