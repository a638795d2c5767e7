#pragma once
// The platform that the ranks of a world run on.

#include "core/platform.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// Collective: returns the same platform on every rank. `device`: this rank's GPU. Error
/// (`machine_unavailable`): as `platform_of`. Throws `Failure` where CUDA does not answer.
[[nodiscard]] Expected<Platform> detect_platform(World& world, int device, bool multicast_allowed);

}  // namespace overlaptune::run
