#pragma once
// The flags of a rank, as kernels and the host see them.

#include "core/config/tiling.hpp"
#include "kernels/device/flags.cuh"

namespace overlaptune::kernels {

using device::RankFlags;
static_assert(kMostRegions == RankFlags::kCounters);

}  // namespace overlaptune::kernels
