#pragma once
// Times that no plan can be below.

#include <span>

#include "planning/sequences/search/runs.hpp"

namespace overlaptune {

/// The fewest micro-batches whose memory holds these sequences.
[[nodiscard]] int fewest_micro_batches(const Runs& runs, std::span<const int> counts);

/// The least time in which `micro_batches` micro-batches run these sequences. The GPU time of all
/// sequences is spread over all GPUs; a sequence counts with its cheapest degree among those on
/// which it ends in the time that the other micro-batches leave.
[[nodiscard]] double lower_bound(const Runs& runs, std::span<const int> counts, int micro_batches);

/// The least time of a batch with any number of micro-batches. Beside GPU time it knows memory: the
/// tokens that neither the other micro-batches nor the GPUs beside the longest sequence's group can
/// hold share that group and pay for its degree, and those that its micro-batch cannot hold take
/// their time in others.
[[nodiscard]] double batch_lower_bound(const Runs& runs);

}  // namespace overlaptune
