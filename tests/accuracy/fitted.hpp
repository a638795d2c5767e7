#pragma once
// A model fitted to a whole probe plan of a simulated machine, kept in memory.

#include <memory>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "model/model.hpp"

namespace overlaptune {

struct FittedMachine {
  std::unique_ptr<Machine> machine;
  std::vector<Measurement> measurements;
  Model model;
};

/// Probes `sim:<profile>` for `ranks` ranks and fits. Throws `Failure` if the machine does not
/// exist.
[[nodiscard]] FittedMachine fit_simulated(const std::string& profile, int ranks,
                                          std::uint64_t seed = 1);

}  // namespace overlaptune
