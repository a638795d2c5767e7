#pragma once
// Contention: the factors (>= 1, on the time) by which an active GEMM and an active collective slow
// each other.

#include "machine/simulator/collective.hpp"
#include "machine/simulator/tile_physics.hpp"

namespace overlaptune::sim {

/// The factor on a GEMM. A collective takes memory and crossbar bandwidth in proportion to what it
/// moves. The factor saturates, because the GEMM keeps its fair share. With congestion
/// (`CongestionProfile`) stores and loads of the GEMM wait behind what the CTAs request.
[[nodiscard]] double gemm_slowdown(const Profile& profile, const CollectiveRun& beside,
                                   const TileTimes& gemm);

/// The factor on any collective, by the memory bandwidth that the GEMM uses. With congestion it is
/// 1: collectives then differ.
[[nodiscard]] double collective_slowdown(const Profile& profile, const TileTimes& beside);

/// The additional factor on this collective; 1 without congestion.
[[nodiscard]] double own_slowdown(const Profile& profile, const CollectiveRun& collective,
                                  const TileTimes& beside);

}  // namespace overlaptune::sim
