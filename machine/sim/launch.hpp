#pragma once
// What starting things costs, as it applies to the tasks of a plan.

#include "core/problem.hpp"
#include "machine/sim/effects.hpp"
#include "machine/sim/profile.hpp"

namespace overlaptune::sim {

/// The launch costs under one way of launching, with the effects that are switched off set to zero.
struct LaunchCosts {
  double around = 0;   ///< before the first kernel and after the last one, once
  double kernel = 0;   ///< from the end of a kernel to the start of the one that waits for it
  double trigger = 0;  ///< from a group's last store to the start of its collective
  double first = 0;    ///< eager: from the first submission to the first start
  double submit = 0;   ///< eager: the host needs this long for each kernel
  /// When the i-th submitted kernel can start at the earliest.
  [[nodiscard]] double earliest(std::size_t i) const {
    return first + submit * static_cast<double>(i);
  }
};

[[nodiscard]] LaunchCosts launch_costs(const Profile& profile, const Effects& effects,
                                       Launch launch);

}  // namespace overlaptune::sim
