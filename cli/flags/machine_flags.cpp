#include "cli/flags/machine_flags.hpp"

#include <spdlog/spdlog.h>

namespace overlaptune::cli {

void add_profile_flag(CLI::App& command, MachineFlags& flags) {
  add_text(command, "--profile FILE", flags.profiles,
           "Profile of one more simulated machine (JSON)")
      ->allow_extra_args(false);
}

void add_machine_flags(CLI::App& command, MachineFlags& flags) {
  add_text(command, "--machine NAME", flags.name,
           "What to measure on: a name of `overlaptune machines`, or auto (the default): the GPUs "
           "of this host if there are any, a simulated machine otherwise");
  add_profile_flag(command, flags);
  command.add_flag("--allow-multicast", flags.allow_multicast,
                   "NVLink multicast (NVLS) may be used by collectives; off by default, and part "
                   "of the platform that results hold for");
  // Only tests use this flag: they check that a run survives candidates that hang or fail.
  command.add_option("--sim-faults", flags.faults)->group("");
}

MachineOptions machine_options(const MachineFlags& flags, const CommonFlags& common) {
  return {.seed = common.seed,
          .profiles = {flags.profiles.begin(), flags.profiles.end()},
          .faults = flags.faults,
          .allow_multicast = flags.allow_multicast};
}

std::unique_ptr<Machine> open(const MachineFlags& flags, const CommonFlags& common) {
  if (const auto code = value_or_throw(serve_launched_rank(flags.name))) throw Ended{*code};
  return value_or_throw(open_machine(flags.name, machine_options(flags, common)));
}

void warn_if_simulated(const MachineFlags& flags, const Machine& machine) {
  const Platform& platform = machine.platform();
  if (flags.name != "auto" || !is_simulated(platform)) return;
  spdlog::warn("every figure is simulated: no GPUs were found ({}), so machine auto is {}",
               why_no_gpus(), full_name(platform));
}

void say_what_nodes_leave_out(const Platform& platform) {
  const std::string left_out = left_out_in_words(platform);
  if (!left_out.empty()) spdlog::info("{}", left_out);
}

}  // namespace overlaptune::cli
