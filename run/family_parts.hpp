#pragma once
// The parts that all plans of a family share. They make it possible to make another plan alone:
// without the other ranks, memory of the GPU or a new stream.

#include <cstdint>

#include "core/config/tiling.hpp"
#include "run/streams/fork.hpp"

namespace overlaptune::run {

/// Runs of a world's plans come one after another, so the plans of a family can share these.
struct FamilyParts {
  SideStream side{};
  /// Counters of wave groups. Each run sets its own to zero first.
  DeviceMemory counters = device_memory(kMostRegions * sizeof(std::uint32_t));
};

}  // namespace overlaptune::run
