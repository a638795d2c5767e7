#pragma once
// The configs whose times depend on NVLink multicast (NVLS), which NCCL uses where it may.

#include <string>

#include "core/config/config.hpp"

namespace overlaptune {

/// Whether NCCL may use multicast for a config: it sums or gathers by one of NCCL's collectives.
/// Sends and receives, copies and the program's own kernels use none.
[[nodiscard]] bool may_use_multicast(const Problem& problem, const Config& config);

/// The effect of multicast on the times of an answer, in a few words. `allowed`: they were measured
/// where it was allowed.
[[nodiscard]] std::string multicast_in_words(const Problem& problem, const Config& config,
                                             bool allowed);

}  // namespace overlaptune
