#pragma once
// The flags of a rank, and how the waits of kernels end, as kernels and the host see them.

#include "core/config/tiling.hpp"
#include "kernels/device/flags.cuh"

namespace overlaptune::kernels {

using device::Awaited;
using device::RankFlags;
using device::WaitControl;
static_assert(kMostRegions == RankFlags::kCounters);

}  // namespace overlaptune::kernels
