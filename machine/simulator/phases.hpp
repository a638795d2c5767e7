#pragma once
// The phases of second runs (core/config/phase.hpp) on a simulated machine.

#include "core/config/phase.hpp"
#include "machine/simulator/profile.hpp"

namespace overlaptune::sim {

/// The machine as this config finds it in a phase. `cold`: a kernel takes twice as long until its
/// first tile computes. `beside`: the copies hold `kCopySms` SMs, or as many as leave the config
/// one for its GEMM, and their share of the memory's rates. The clock of a phase is not a matter of
/// the profile (`Setting`).
[[nodiscard]] Profile in_phase(Profile profile, RunPhase phase, const Config& config);

}  // namespace overlaptune::sim
