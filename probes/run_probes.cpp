#include <set>
#include <string>

#include <spdlog/spdlog.h>

#include "probes/probes.hpp"

namespace overlaptune {

std::vector<TiledKernel> kernels_of(std::span<const Probe> probes) {
  std::set<TiledKernel> kernels;
  for (const Probe& probe : probes) {
    const GemmProbe* gemm = gemm_of(probe);
    if (gemm == nullptr || gemm->tile.is_library()) continue;
    kernels.insert({.tile = gemm->tile, .dtype = gemm->dtype});
  }
  return {kernels.begin(), kernels.end()};
}

Expected<ProbeReport> run_probes(Machine& machine, Store& store, std::span<const Probe> plan,
                                 const Provenance& provenance, bool again,
                                 const Progress& progress) {
  const PlatformId platform = store.add_platform(machine.platform());
  std::set<std::string> known;
  if (!again) {
    for (const Measurement& measurement : store.measurements(platform)) {
      known.insert(to_string(measurement.probe));
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
  if (missing.empty()) return report;
  if (auto ready = machine.prepare(kernels_of(missing)); !ready) return error_of(ready);

  const ProbeRunId run = store.begin_probe_run(platform, provenance);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const std::string name = to_string(missing[i]);
    if (!progress(i, missing.size(), name)) return report;
    const auto measurement = machine.measure(missing[i]);
    if (measurement) {
      store.add_measurement(run, *measurement);
      spdlog::debug("measured {}", name);
      ++report.measured;
    } else if (measurement.error().kind == ErrorKind::bad_input) {
      spdlog::debug("skipped {}: {}", name, measurement.error().message);
      ++report.skipped;
    } else {
      return error_of(measurement);
    }
  }
  progress(missing.size(), missing.size(), "probes");
  store.finish_probe_run(run);
  return report;
}

}  // namespace overlaptune
