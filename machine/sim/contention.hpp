#pragma once
// How much an active GEMM and an active collective slow each other: factors >= 1 on the time.

#include "machine/sim/collective.hpp"
#include "machine/sim/effects.hpp"
#include "machine/sim/tile_physics.hpp"

namespace overlaptune::sim {

/// A collective takes memory and crossbar bandwidth from the GEMM in proportion to what it moves;
/// saturating, since the GEMM keeps its fair share.
[[nodiscard]] double gemm_slowdown(const Profile& profile, const Effects& effects,
                                   const CollectiveRun& beside);

/// Likewise the GEMM from the collective, by the memory bandwidth that the GEMM uses.
[[nodiscard]] double collective_slowdown(const Profile& profile, const Effects& effects,
                                         const TileTimes& beside);

}  // namespace overlaptune::sim
