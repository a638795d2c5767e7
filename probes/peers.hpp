#pragma once
// Probes of each pair of GPUs, for the peer matrix of reports. The model needs none of them.

#include <string>
#include <vector>

#include "core/measurement.hpp"
#include "core/platform.hpp"
#include "probes/probes.hpp"

namespace overlaptune {

/// The reason why a platform has no peer matrix, for people; empty if it has one.
[[nodiscard]] std::string why_no_peers(const Platform& platform);

/// A copy of 256 MiB, which gives the bandwidth, from each GPU to each other; with `full` depth one
/// of 4 KiB, which gives the latency, too. Empty where `why_no_peers` has a reason.
[[nodiscard]] std::vector<Probe> peer_plan(const Platform& platform, ProbeDepth depth);

}  // namespace overlaptune
