#pragma once
// The words of a rank, as kernels and the host see them.

#include "core/tiling.hpp"
#include "kernels/device/words.cuh"

namespace overlaptune::kernels {

using device::RankWords;
static_assert(kMostRegions == RankWords::kCounters);

}  // namespace overlaptune::kernels
