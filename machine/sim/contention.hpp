#pragma once
// Contention: the factors (>= 1, on the time) by which an active GEMM and an active collective slow
// each other.

#include "machine/sim/collective.hpp"
#include "machine/sim/effects.hpp"
#include "machine/sim/tile_physics.hpp"

namespace overlaptune::sim {

/// The factor on a GEMM. A collective takes memory and crossbar bandwidth in proportion to what it
/// moves. The factor saturates, because the GEMM keeps its fair share.
[[nodiscard]] double gemm_slowdown(const Profile& profile, const Effects& effects,
                                   const CollectiveRun& beside);

/// The factor on a collective, by the memory bandwidth that the GEMM uses.
[[nodiscard]] double collective_slowdown(const Profile& profile, const Effects& effects,
                                         const TileTimes& beside);

}  // namespace overlaptune::sim
