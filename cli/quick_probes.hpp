#pragma once
// A quick probing of a machine, for commands that store nothing.

#include <vector>

#include "machine/machine.hpp"

namespace overlaptune::cli {

/// Measures what a quick plan for these rank counts has, with a progress bar. Probes that the
/// machine refuses are left out. Throws `Failure` where the machine is lost, and `Ended` after an
/// interrupt.
[[nodiscard]] std::vector<Measurement> quick_measurements(Machine& machine,
                                                          const std::vector<int>& ranks);

}  // namespace overlaptune::cli
