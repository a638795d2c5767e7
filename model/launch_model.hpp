#pragma once
// What starting things costs, in microseconds.

#include <algorithm>
#include <optional>
#include <span>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/measurement.hpp"

namespace overlaptune {

struct LaunchModel {
  double replay = 0;        ///< part of every time measured alone that is not the work itself
  double kernel_gap = 0;    ///< between dependent kernels of one graph
  double eager_submit = 0;  ///< host time a kernel
  double eager_first = 0;
  double trigger = 0;  ///< last store of a group to the start of its collective
  // The trigger in a graph, where the driver waits and where a kernel does; absent: not probed.
  std::optional<double> driver_trigger{};
  std::optional<double> kernel_trigger{};
  double reorder_per_byte = 0;  ///< copying staged bytes into place, on all SMs
  /// Copying them on one SM; absent: not probed.
  std::optional<double> reorder_per_byte_and_sm{};

  /// Error: a launch cost that is not optional here was not probed.
  [[nodiscard]] static Expected<LaunchModel> fit(std::span<const Measurement> measurements);

  /// The wait to prefer: the driver's, which needs no SM, unless a kernel is much quicker.
  [[nodiscard]] Wait wait(Launch launch) const {
    constexpr double kMuch = 0.9;
    const bool known = launch == Launch::graph && driver_trigger && kernel_trigger;
    return known && *kernel_trigger < kMuch * *driver_trigger ? Wait::kernel : Wait::driver;
  }
  [[nodiscard]] double trigger_of(Wait wait, Launch launch) const {
    if (launch == Launch::eager) return trigger;
    return (wait == Wait::kernel ? kernel_trigger : driver_trigger).value_or(trigger);
  }

  /// `reorder_per_byte` where a GEMM leaves so many SMs (0: unknown how many).
  [[nodiscard]] double reorder_beside(int sms) const {
    if (sms == 0 || !reorder_per_byte_and_sm) return reorder_per_byte;
    return std::max(reorder_per_byte, *reorder_per_byte_and_sm / sms);
  }

  /// From the start of a config to its first kernel, the way back to the last event included.
  [[nodiscard]] double start(Launch launch) const {
    return launch == Launch::graph ? replay : eager_first;
  }
};

}  // namespace overlaptune
