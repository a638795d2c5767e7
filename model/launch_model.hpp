#pragma once
// What starting things costs, in microseconds.

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
  double trigger = 0;                      ///< last store of a group to the start of its collective
  std::optional<double> kernel_trigger{};  ///< where a kernel waits; absent: not probed
  double reorder_per_byte = 0;

  /// Error: a launch cost, but for `kernel_trigger`, that was not probed.
  [[nodiscard]] static Expected<LaunchModel> fit(std::span<const Measurement> measurements);

  /// The wait to prefer: the driver's, which needs no SM, unless a kernel is much quicker.
  [[nodiscard]] Wait wait() const {
    constexpr double kMuch = 0.9;
    return kernel_trigger && *kernel_trigger < kMuch * trigger ? Wait::kernel : Wait::driver;
  }

  /// From the start of a config to its first kernel, the way back to the last event included.
  [[nodiscard]] double start(Launch launch) const {
    return launch == Launch::graph ? replay : eager_first;
  }
};

}  // namespace overlaptune
