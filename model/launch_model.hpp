#pragma once
// What starting things costs, in microseconds.

#include <span>

#include "core/error.hpp"
#include "core/measurement.hpp"

namespace overlaptune {

struct LaunchModel {
  double replay = 0;        ///< part of every time measured alone that is not the work itself
  double kernel_gap = 0;    ///< between dependent kernels of one graph
  double eager_submit = 0;  ///< host time a kernel
  double eager_first = 0;
  double trigger = 0;  ///< last store of a group to the start of its collective
  double reorder_per_byte = 0;

  /// Error: a launch cost that was not probed.
  [[nodiscard]] static Expected<LaunchModel> fit(std::span<const Measurement> measurements);

  /// From the start of a config to its first kernel, the way back to the last event included.
  [[nodiscard]] double start(Launch launch) const {
    return launch == Launch::graph ? replay : eager_first;
  }
};

}  // namespace overlaptune
