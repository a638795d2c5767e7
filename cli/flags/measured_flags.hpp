#pragma once
// The flags that say whose times a plan for a model rests on.

#include <functional>
#include <string>
#include <vector>

#include "cli/flags/machine_flags.hpp"
#include "query/measured_platform.hpp"
#include "workload/model_config.hpp"

namespace overlaptune::cli {

/// A platform of a database, or a machine that is probed quickly now.
struct MeasuredFlags {
  MachineFlags machine{.name = ""};
  std::string database{};
  std::string platform{};
};

/// Adds `--db`, `--platform`, `--machine` and `--profile`.
void add_measured_flags(CLI::App& command, MeasuredFlags& flags);

/// The flags with the database of the environment where they name neither database nor machine.
[[nodiscard]] MeasuredFlags with_default(MeasuredFlags flags);

/// The stored platform, or the machine after a quick probing with a progress bar, of which nothing
/// is stored. `ranks` gives the rank counts to probe on so many GPUs; probes that the machine
/// refuses are left out. Throws `Failure` as `MeasuredPlatform`, and where the machine is lost, and
/// `Ended` after an interrupt.
[[nodiscard]] MeasuredPlatform measured_platform(
    const MeasuredFlags& flags, const CommonFlags& common, const ModelConfig& config,
    const std::function<std::vector<int>(int gpus)>& ranks);

}  // namespace overlaptune::cli
