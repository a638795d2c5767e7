#pragma once
// Machines by the names that `--machine` takes.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.hpp"

namespace overlaptune {

struct MachineOptions {
  std::uint64_t seed = 0;                         ///< of the simulator's noise
  std::vector<std::filesystem::path> profiles{};  ///< more simulated machines (`--profile`)
  std::string faults{};  ///< simulated faults, for instance "hang=0.02,wrong=0.01"; empty: none
};

struct MachineEntry {
  std::string name;         ///< "sim:h200-nvlink-x8", "cuda"
  std::string description;  ///< one line: GPUs, links
  bool available = true;
  std::string reason{};  ///< why it is not available
};

/// Everything that can be named here, "cuda" included. Error: a profile that cannot be read.
[[nodiscard]] Expected<std::vector<MachineEntry>> list_machines(const MachineOptions& options);

/// Opens a machine; "auto" takes the GPUs if there are any, the default simulated machine
/// otherwise. Error: `bad_input` for an unknown name (with the known ones), `machine_unavailable`
/// for `cuda` without GPUs or without CUDA support built in.
[[nodiscard]] Expected<std::unique_ptr<Machine>> open_machine(std::string_view name,
                                                              const MachineOptions& options);

}  // namespace overlaptune
