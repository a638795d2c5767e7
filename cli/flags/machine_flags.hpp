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

/// Adds `--profile` alone, on which the list of machines depends.
void add_profile_flag(CLI::App& command, MachineFlags& flags);

/// Adds `--machine`, `--profile`, `--allow-multicast` and the hidden `--sim-faults`.
void add_machine_flags(CLI::App& command, MachineFlags& flags);

[[nodiscard]] MachineOptions machine_options(const MachineFlags& flags, const CommonFlags& common);

/// Opens the machine. Throws `Failure` with the errors of `open_machine`, and `Ended` on ranks of a
/// launcher that only serve their worker (`serve_launched_rank`).
[[nodiscard]] std::unique_ptr<Machine> open(const MachineFlags& flags, const CommonFlags& common);

/// Warns where `--machine auto` became a simulated machine, and says why. Called when the input was
/// found good, before anything is measured.
void warn_if_simulated(const MachineFlags& flags, const Machine& machine);

/// Logs what the ranks of several nodes lack (`left_out_in_words`).
void say_what_nodes_leave_out(const Platform& platform);

}  // namespace overlaptune::cli
