#pragma once
// The flags that name a machine.

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "machine/catalogue.hpp"

namespace overlaptune::cli {

struct MachineFlags {
  std::string name = "auto";
  std::vector<std::string> profiles{};
  std::string faults{};
  bool allow_multicast = false;
};

/// Thrown by `open` where this process was not to do the command's work and has done its own: the
/// program ends with that code.
struct Ended {
  int code = 0;
};

/// `--profile` alone: what the list of machines depends on.
void add_profile_flag(CLI::App& command, MachineFlags& flags);

/// `--machine`, `--profile`, `--allow-multicast` and the hidden `--sim-faults`.
void add_machine_flags(CLI::App& command, MachineFlags& flags);

[[nodiscard]] MachineOptions machine_options(const MachineFlags& flags, const CommonFlags& common);

/// Throws `Failure` as `open_machine` says, and `Ended` on the ranks of a launcher that only look
/// after their worker (`serve_launched_rank`).
[[nodiscard]] std::unique_ptr<Machine> open(const MachineFlags& flags, const CommonFlags& common);

}  // namespace overlaptune::cli
