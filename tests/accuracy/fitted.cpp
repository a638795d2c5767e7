#include "fitted.hpp"

#include <array>

#include "machine/catalogue.hpp"
#include "probes/probes.hpp"

namespace overlaptune {

FittedMachine fit_simulated(const std::string& profile, int ranks, std::uint64_t seed) {
  auto machine = value_or_throw(open_machine("sim:" + profile, {.seed = seed}));
  const std::array<int, 1> counts{ranks};
  std::vector<Measurement> measurements;
  for (const Probe& probe : probe_plan(machine->platform(), machine->transports(), counts)) {
    if (const auto measurement = machine->measure(probe)) measurements.push_back(*measurement);
  }
  Model model = value_or_throw(Model::fit(machine->platform(), measurements));
  return {std::move(machine), std::move(measurements), std::move(model)};
}

}  // namespace overlaptune
