#include <set>
#include <string>

#include <spdlog/spdlog.h>

#include "probes/cost_limit.hpp"
#include "probes/probes.hpp"

namespace overlaptune {

std::vector<TiledKernel> kernels_of(std::span<const Probe> probes) {
  std::set<TiledKernel> kernels;
  for (const Probe& probe : probes) {
    const GemmProbe* gemm = gemm_of(probe);
    if (gemm == nullptr || gemm->tile.is_library()) continue;
    kernels.insert({.tile = gemm->tile, .elements = gemm->elements});
  }
  return {kernels.begin(), kernels.end()};
}

Expected<ProbeReport> run_probes(Machine& machine, Store& store, std::span<const Probe> plan,
                                 const Provenance& provenance, bool again,
                                 const Progress& progress) {
  const PlatformId platform = store.add_platform(machine.platform());
  std::set<std::string> known;
  CostLimit limit;
  if (!again) {
    for (const Measurement& measurement : store.measurements(platform)) {
      known.insert(to_string(measurement.probe));
      limit.learn(measurement);
    }
  }
  ProbeReport report;
  std::vector<Probe> missing;
  for (const Probe& probe : plan) {
    if (known.contains(to_string(probe))) {
      ++report.known;
    } else {
      missing.push_back(probe);
    }
  }
  spdlog::debug("{} of {} probes are missing", missing.size(), plan.size());
  if (missing.empty()) return report;
  if (auto ready = machine.prepare(kernels_of(missing)); !ready) return error_of(ready);

  const ProbeRunId run = store.begin_probe_run(platform, provenance);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (limit.forbids(missing[i])) {
      ++report.too_long;
      continue;
    }
    const std::string name = to_string(missing[i]);
    if (!progress(i, missing.size(), name)) return report;
    const auto measurement = machine.measure(missing[i]);
    if (measurement) {
      store.add_measurement(run, *measurement);
      limit.learn(*measurement);
      spdlog::debug("measured {}", name);
      ++report.measured;
    } else if (measurement.error().kind == ErrorKind::bad_input) {
      spdlog::debug("skipped {}: {}", name, measurement.error().message);
      ++report.skipped;
    } else {
      return error_of(measurement);
    }
  }
  if (report.too_long > 0) {
    spdlog::info("not probed: {} collectives that would take longer than {:.0f} ms",
                 report.too_long, kLongestCollective.count() * 1e-3);
  }
  progress(missing.size(), missing.size(), "probes");
  store.finish_probe_run(run);
  return report;
}

}  // namespace overlaptune
