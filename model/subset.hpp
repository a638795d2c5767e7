#pragma once
// The tiles that a search for fast answers looks at (`Space::subset`).

#include "core/gpu.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// Whether the subset has this tile: one with the deepest pipeline that fits, alone or with the
/// widest cluster (no cluster where two CTAs can share a tile).
[[nodiscard]] bool in_subset(const Tile& tile, const Problem& problem, int sms,
                             const GpuLimits& limits);

}  // namespace overlaptune
