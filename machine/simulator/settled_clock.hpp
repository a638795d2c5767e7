#pragma once
// The clock at which the time of a config and the power that it draws agree.

#include <functional>

#include "machine/simulator/execution.hpp"

namespace overlaptune::sim {

/// The times of one run: all of it, and the part in which its GEMMs run.
struct RunTimes {
  double all = 0;
  double gemm = 0;
};

/// `work` is that of one run, `around` the time of its launch, and `run(factor)` its times at a
/// clock factor. The run is in turn with the background of the setting.
[[nodiscard]] ClockState settled_clock(const Setting& setting, const Load& work, double around,
                                       const std::function<RunTimes(double factor)>& run);

}  // namespace overlaptune::sim
