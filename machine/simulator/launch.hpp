#pragma once
// The costs of launches, as they apply to the tasks of a schedule.

#include "core/problem.hpp"
#include "machine/simulator/profile.hpp"

namespace overlaptune::sim {

/// The costs of one way of launching.
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

[[nodiscard]] inline LaunchCosts launch_costs(const Profile& profile, Launch launch) {
  const LaunchProfile& from = profile.launch;
  LaunchCosts costs{.kernel = from.graph_kernel,
                    .trigger = from.signal + from.trigger,
                    .kernel_trigger = from.signal + from.kernel_trigger,
                    .signal = from.signal};
  if (is_eager(launch)) {
    costs.first = from.eager_first;
    costs.submit = from.eager_submit;
  } else {
    costs.around = from.graph_replay;
  }
  return costs;
}

}  // namespace overlaptune::sim
