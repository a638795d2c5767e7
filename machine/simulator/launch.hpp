#pragma once
// The costs of launches, as they apply to the tasks of a schedule.

#include "core/problem.hpp"
#include "machine/simulator/effects.hpp"
#include "machine/simulator/profile.hpp"

namespace overlaptune::sim {

/// The costs of one way of launching; 0 for effects that are switched off.
struct LaunchCosts {
  double around = 0;   ///< time before the first kernel and after the last one, once
  double kernel = 0;   ///< time from the end of a kernel to the start of the one that waits for it
  double trigger = 0;  ///< time from a group's last store to the start of its collective
  double kernel_trigger = 0;  ///< the same where a kernel waits
  double signal = 0;          ///< time until a group's last store is visible
  double first = 0;           ///< eager: time from the first submission to the first start
  double submit = 0;          ///< eager: time of the host for each kernel
  /// The earliest start of the i-th submitted kernel.
  [[nodiscard]] double earliest(std::size_t i) const {
    return first + submit * static_cast<double>(i);
  }
};

[[nodiscard]] LaunchCosts launch_costs(const Profile& profile, const Effects& effects,
                                       Launch launch);

}  // namespace overlaptune::sim
