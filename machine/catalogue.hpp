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
  std::uint64_t seed = 0;                         ///< seed of the simulator's noise
  std::vector<std::filesystem::path> profiles{};  ///< more simulated machines (`--profile`)
  /// Faults to inject, for tests; empty: none. For simulated machines as in "hang=0.02,wrong=0.01",
  /// for `cuda` as in machine/controller/wire/messages.hpp.
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

/// Why the GPUs of this host cannot be used; empty where they can.
[[nodiscard]] std::string why_no_gpus();

/// All machines, available or not. Error: a profile that cannot be read.
[[nodiscard]] Expected<std::vector<MachineEntry>> list_machines(const MachineOptions& options);

/// Opens a machine. "auto" takes the GPUs if there are any, otherwise the default simulated
/// machine. Under a launcher it never takes a simulated one, because ranks are launched for GPUs.
/// Error: `bad_input` for an unknown name (with the known ones), `machine_unavailable` for `cuda`
/// with fewer than two GPUs or without CUDA support built in.
[[nodiscard]] Expected<std::unique_ptr<Machine>> open_machine(std::string_view name,
                                                              const MachineOptions& options);

/// The part of the ranks other than 0 under a launcher (mpirun, srun, torchrun): rank 0 opens
/// `cuda`, the others look after their workers. For a name that means the GPUs, such a rank serves
/// until rank 0 is done, and gets the exit code. None if this process is to go on by itself.
/// Error: as `open_machine`.
[[nodiscard]] Expected<std::optional<int>> serve_launched_rank(std::string_view name);

/// Tells the processes of other ranks, if there are any, the exit code. To be called last.
void finish_launched_ranks(int exit_code);

}  // namespace overlaptune
