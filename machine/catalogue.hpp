#pragma once
// Machines by the names that `--machine` takes.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.hpp"

namespace overlaptune {

struct MachineOptions {
  std::uint64_t seed = 0;                         ///< of the simulator's noise
  std::vector<std::filesystem::path> profiles{};  ///< more simulated machines (`--profile`)
  /// Faults to inject, for tests; empty: none. Simulated ones as in "hang=0.02,wrong=0.01", those
  /// of `cuda` as in machine/cuda/wire/messages.hpp.
  std::string faults{};
  bool allow_multicast = false;  ///< `cuda`: NVLink multicast may be used; part of the platform
  int ranks = 0;                 ///< `cuda` without a launcher: GPUs to use; 0: all
};

struct MachineEntry {
  std::string name;         ///< "sim:h200-nvlink-x8", "cuda"
  std::string description;  ///< one line: GPUs, links
  bool available = true;
  std::string reason{};  ///< why it is not available
};

/// Everything that can be named here, "cuda" included. Error: a profile that cannot be read.
[[nodiscard]] Expected<std::vector<MachineEntry>> list_machines(const MachineOptions& options);

/// Opens a machine; "auto" takes the GPUs if there are any, the default simulated machine otherwise
/// (never under a launcher: who starts a rank a GPU means the GPUs). Error: `bad_input` for an
/// unknown name (with the known ones), `machine_unavailable` for `cuda` with fewer than two GPUs or
/// without CUDA support built in.
[[nodiscard]] Expected<std::unique_ptr<Machine>> open_machine(std::string_view name,
                                                              const MachineOptions& options);

/// Under a launcher (mpirun, srun, torchrun) rank 0 opens `cuda` and the processes of all other
/// ranks look after its workers instead: on those, for a name that means the GPUs, this does so
/// until rank 0 is done, and returns the exit code. None where this process is to go on by itself.
/// Error: what `open_machine` would say here.
[[nodiscard]] Expected<std::optional<int>> serve_launched_rank(std::string_view name);

/// The last thing to call: tells the processes of other ranks, if there are any, the exit code.
void finish_launched_ranks(int exit_code);

}  // namespace overlaptune
