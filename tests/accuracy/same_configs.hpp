#pragma once
// Times of a simulated machine beside those of GPUs, config by config.

#include <span>
#include <string>
#include <vector>

#include "core/config/candidate.hpp"
#include "machine/machine.hpp"

namespace overlaptune {

/// Simulated over measured time, less 1, of the configs of one strategy.
struct SimulatedErrors {
  std::string strategy{};
  std::vector<double> errors{};
};

/// Runs each config that is valid on the GPUs, and that the machine can run, on the machine.
[[nodiscard]] std::vector<SimulatedErrors> simulated_errors(Machine& machine,
                                                            std::span<const Candidate> measured);

/// Prints them as Markdown: a row for each strategy.
void print_simulated_errors(const std::vector<SimulatedErrors>& strategies);

}  // namespace overlaptune
