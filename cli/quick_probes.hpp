#pragma once
// A quick probing of a machine, for commands that store nothing.

#include <array>
#include <span>
#include <vector>

#include "machine/machine.hpp"
#include "probes/probes.hpp"
#include "workload/model_config.hpp"

namespace overlaptune::cli {

/// Measures what a quick plan for these rank counts and elements has, with a progress bar. Probes
/// that the machine refuses are left out. Throws `Failure` where the machine is lost, and `Ended`
/// after an interrupt.
[[nodiscard]] std::vector<Measurement> quick_measurements(Machine& machine,
                                                          const std::vector<int>& ranks,
                                                          std::span<const Elements> elements);

/// The elements of a model's products: its own, and bf16 of what it leaves in 16 bits.
[[nodiscard]] inline std::array<Elements, 2> elements_of(const ModelConfig& config) {
  return {Elements::bf16, config.elements};
}

}  // namespace overlaptune::cli
