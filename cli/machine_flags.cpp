#include "cli/machine_flags.hpp"

namespace overlaptune::cli {

void add_profile_flag(CLI::App& command, MachineFlags& flags) {
  command.add_option("--profile", flags.profiles, "Profile of one more simulated machine (JSON)")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_machine_flags(CLI::App& command, MachineFlags& flags) {
  command
      .add_option(
          "--machine", flags.name,
          "What to measure on: a name of `overlaptune machines`, or auto (the default): the "
          "GPUs of this host if there are any, a simulated machine otherwise")
      ->type_name("NAME");
  add_profile_flag(command, flags);
  // For tests of how a run survives candidates that hang or fail.
  command.add_option("--sim-faults", flags.faults)->group("");
}

MachineOptions machine_options(const MachineFlags& flags, const CommonFlags& common) {
  return {.seed = common.seed,
          .profiles = {flags.profiles.begin(), flags.profiles.end()},
          .faults = flags.faults};
}

std::unique_ptr<Machine> open(const MachineFlags& flags, const CommonFlags& common) {
  return value_or_throw(open_machine(flags.name, machine_options(flags, common)));
}

}  // namespace overlaptune::cli
