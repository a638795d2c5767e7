#include "tuner/prepare.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tuner/layer_probes.hpp"

namespace overlaptune {
namespace {

/// The values that a member has in the problems, each once.
template <class T>
std::vector<T> values_of(std::span<const Problem> problems, T Problem::*member) {
  std::set<T> found;
  for (const Problem& problem : problems) found.insert(problem.*member);
  return {found.begin(), found.end()};
}

std::map<Collective, std::vector<CommSetting>> probed_settings(
    std::span<const Measurement> measurements) {
  std::map<Collective, std::set<CommSetting>> found;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe);
    if (const auto* pair = std::get_if<ConcurrentProbe>(&measurement.probe)) {
      probe = &pair->collective;
    } else if (probe == nullptr || probe->comm_ctas == 0) {
      continue;  // NCCL may choose its CTAs only after a GEMM
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

bool has_candidates(const Store& store, TuningRunId run, std::span<const Problem> problems,
                    std::span<const Launch> launches) {
  return std::ranges::any_of(problems, [&](const Problem& problem) {
    return std::ranges::any_of(
        launches, [&](Launch launch) { return !store.candidates(run, problem, launch).empty(); });
  });
}

/// Rounds of layer probes. There are several, because after one round the model may predict other
/// tiles to be best. Each round depends only on `asked` and the rounds before it, so that a run
/// that was stopped between rounds asks for the same probes again.
Expected<void> probe_layers(Machine& machine, Store& store, PlatformId platform,
                            std::set<Probe> asked, std::span<const Problem> problems,
                            const TuneOptions& options, RunMonitor& monitor,
                            const Progress& progress) {
  const auto stop = [&] { return monitor.must_stop("choosing GEMMs to probe"); };
  for (int round = 0; round < options.layer_rounds; ++round) {
    monitor.begin_stage(problems.size());
    if (stop()) break;
    const auto known = Model::fit(machine.platform(), measurements_of(store, platform, asked));
    if (!known) return error_of(known);
    const std::vector<Probe> layers = layer_probes(*known, problems,
                                                   {.launch = options.launches.front(),
                                                    .sms = machine.platform().sms,
                                                    .stop = stop,
                                                    .searched = [&] { monitor.step_done(); }});
    const auto probed = run_probes(machine, store, layers, options.provenance, false, progress);
    if (!probed) return error_of(probed);
    asked.insert(layers.begin(), layers.end());
  }
  return {};
}

}  // namespace

Expected<void> probe_missing(Machine& machine, Store& store, const TuningRun& run,
                             std::span<const Problem> problems, const TuneOptions& options,
                             RunMonitor& monitor) {
  const Progress progress = [&](std::size_t done, std::size_t total, std::string_view what) {
    return !monitor.must_stop(done, total, what);
  };
  const std::vector<Probe> plan =
      probe_plan(machine.platform(), machine.transports(), values_of(problems, &Problem::ranks),
                 options.probes, values_of(problems, &Problem::elements));
  const auto probed = run_probes(machine, store, plan, options.provenance, false, progress);
  if (!probed) return error_of(probed);
  if (monitor.stopped()) return {};

  // More rounds would propose other candidates than those that the run has.
  if (has_candidates(store, run.id, problems, options.launches)) return {};
  return probe_layers(machine, store, run.platform, {plan.begin(), plan.end()}, problems, options,
                      monitor, progress);
}

Expected<Prepared> fit_stored(const Machine& machine, const Store& store, const TuningRun& run,
                              std::span<const Problem> earlier, std::span<const Launch> launches) {
  const std::vector<Measurement> measurements = store.measurements(run.platform);
  auto analytic = Model::fit(machine.platform(), measurements);
  if (!analytic) return error_of(analytic);
  LearnedModel model(std::move(*analytic));
  for (const Candidate& candidate : store.valid_candidates(run.platform, run.id)) {
    model.learn(candidate);
  }
  for (const Problem& problem : earlier) {
    for (const Launch launch : launches) {
      for (const Candidate& candidate : store.candidates(run.id, problem, launch)) {
        if (candidate.verdict == Verdict::valid) model.learn(candidate);
      }
    }
  }
  return Prepared{.model = std::move(model),
                  .space = {.platform = machine.platform(),
                            .strategies = machine.strategies(),
                            .settings = probed_settings(measurements)}};
}

}  // namespace overlaptune
