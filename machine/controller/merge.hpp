#pragma once
// Merges the results of all ranks: the slowest rank counts, and the worst verdict.

#include <vector>

#include "machine/controller/wire/messages.hpp"
#include "machine/machine.hpp"

namespace overlaptune::cuda {

/// The slowest rank of each repetition. Ranks that took no part (from `ranks` on) may have nothing.
/// Error (`machine_unavailable`): the ranks disagree about the number of repetitions, or have none.
[[nodiscard]] Expected<Measurement> merge(const Probe& probe, const std::vector<Samples>& samples);

/// One result for each config. Error (`machine_unavailable`): the ranks disagree about the number
/// of configs (expected: `configs`) or of repetitions.
[[nodiscard]] Expected<std::vector<RunResult>> merge(const std::vector<RunReply>& replies,
                                                     std::size_t configs);

/// The platform of all ranks; see `platform_of` (core/device.hpp).
[[nodiscard]] Expected<Platform> merge(const std::vector<Hello>& hellos, bool multicast_allowed,
                                       int ranks_per_gpu = 1);

}  // namespace overlaptune::cuda
