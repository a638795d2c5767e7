#include "cli/quick_probes.hpp"

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/progress.hpp"

namespace overlaptune::cli {

std::vector<Measurement> quick_measurements(Machine& machine, const std::vector<int>& ranks,
                                            std::span<const Elements> elements) {
  const std::vector<Probe> plan =
      probe_plan(machine.platform(), machine.transports(), ranks, ProbeDepth::quick, elements);
  if (const auto ready = machine.prepare(kernels_of(plan)); !ready) throw Failure(ready.error());
  std::vector<Measurement> list;
  ProgressBar bar;
  const auto progress = bar.callback();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (!progress(i, plan.size(), to_string(plan[i]))) throw Ended{kSignalBase + interrupted()};
    auto measurement = machine.measure(plan[i]);
    if (measurement) {
      list.push_back(*measurement);
    } else if (measurement.error().kind != ErrorKind::bad_input) {
      throw Failure(measurement.error());
    }
  }
  return list;
}

}  // namespace overlaptune::cli
