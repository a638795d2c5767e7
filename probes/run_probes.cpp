#include <set>
#include <string>

#include <spdlog/spdlog.h>

#include "probes/probes.hpp"

namespace overlaptune {

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
  std::vector<const Probe*> missing;
  for (const Probe& probe : plan) {
    if (known.contains(to_string(probe))) {
      ++report.known;
    } else {
      missing.push_back(&probe);
    }
  }
  if (missing.empty()) return report;

  const ProbeRunId run = store.begin_probe_run(platform, provenance);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const std::string name = to_string(*missing[i]);
    if (!progress(i, missing.size(), name)) return report;
    const auto measurement = machine.measure(*missing[i]);
    if (measurement) {
      store.add_measurement(run, *measurement);
      ++report.measured;
    } else if (measurement.error().kind == ErrorKind::bad_input) {
      spdlog::debug("skipped {}: {}", name, measurement.error().message);
      ++report.skipped;
    } else {
      return tl::make_unexpected(measurement.error());
    }
  }
  progress(missing.size(), missing.size(), "probes");
  store.finish_probe_run(run);
  return report;
}

}  // namespace overlaptune
