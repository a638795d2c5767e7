#pragma once
// `evaluate --held-out`: how good the model is at points that were not probed.

#include <optional>
#include <string>

#include "cli/flags/machine_flags.hpp"
#include "cli/flags/problem_flags.hpp"

namespace overlaptune::cli {

struct HeldOutFlags {
  std::optional<int> collectives{};  ///< drawn at random; none where `--held-out` was not given
  int tiles = 0;
  WorkloadFlags workload{};  ///< the GEMMs of these problems are measured, too
};

/// Adds `--held-out` and the flags that need it.
void add_held_out_flags(CLI::App& command, HeldOutFlags& flags);

/// Measures the points on the machine, prints the errors of the model that was probed for it, and
/// stores nothing. Returns the exit code. Throws `Failure` where the database has no probes of the
/// machine's platform, or the machine is lost.
[[nodiscard]] int evaluate_held_out(const HeldOutFlags& flags, const MachineFlags& machine,
                                    const std::string& database, const CommonFlags& common);

}  // namespace overlaptune::cli
