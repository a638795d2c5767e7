#pragma once
// The costs of launches, triggers and copies into place, in microseconds.

#include <algorithm>
#include <optional>
#include <span>

#include "core/base/error.hpp"
#include "core/config/config.hpp"
#include "core/measurement.hpp"

namespace overlaptune {

struct LaunchModel {
  double replay = 0;        ///< cost of a graph replay, which every time measured alone contains
  double kernel_gap = 0;    ///< time between dependent kernels of one graph
  double eager_submit = 0;  ///< host time for each kernel
  double eager_first = 0;
  double trigger = 0;  ///< from the last store of a group to the start of its collective
  // The trigger in a graph, for a wait of the driver and for a wait of a kernel; absent if not
  // probed.
  std::optional<double> driver_trigger{};
  std::optional<double> kernel_trigger{};
  double reorder_per_byte = 0;  ///< copying a staged byte into place, on all SMs
  /// Copying a staged byte on one SM; absent if not probed.
  std::optional<double> reorder_per_byte_and_sm{};

  /// Error: a launch cost that is not optional here was not probed.
  [[nodiscard]] static Expected<LaunchModel> fit(std::span<const Measurement> measurements);

  /// The wait to prefer: the driver's, which needs no SM, unless a kernel is much faster.
  [[nodiscard]] Wait wait(Launch launch) const {
    constexpr double kMuch = 0.9;
    const bool known = !is_eager(launch) && driver_trigger && kernel_trigger;
    return known && *kernel_trigger < kMuch * *driver_trigger ? Wait::kernel : Wait::driver;
  }
  [[nodiscard]] double trigger_of(Wait wait, Launch launch) const {
    if (is_eager(launch)) return trigger;
    return (wait == Wait::kernel ? kernel_trigger : driver_trigger).value_or(trigger);
  }

  /// `reorder_per_byte` while a GEMM leaves `sms` SMs; 0: their number is unknown.
  [[nodiscard]] double reorder_beside(int sms) const {
    if (sms == 0 || !reorder_per_byte_and_sm) return reorder_per_byte;
    return std::max(reorder_per_byte, *reorder_per_byte_and_sm / sms);
  }

  /// The time before the first kernel of a config and after its last one, between the two events
  /// that time it.
  [[nodiscard]] double start(Launch launch) const {
    return is_eager(launch) ? eager_first : replay;
  }
};

}  // namespace overlaptune
