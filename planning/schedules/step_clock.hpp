#pragma once
// The clock of a step: its GEMMs are slowed by the power that all of its operations draw. A probe
// repeats one GEMM, which draws more; so times of probes are not those of a step.

#include <functional>

#include "model/clock_model.hpp"
#include "planning/schedules/step_graph.hpp"

namespace overlaptune {

/// Factors on the times that GEMMs take at full clock.
struct StepClocks {
  double apart = 1;       ///< where all operations run one after the other
  double overlapped = 1;  ///< where those with fusions are fused: as much power in less time
};

/// The clocks of a step of such layers, each a pass or two. `operations` has times at full clock;
/// `slowdown` is that of a `ClockModel`, whose load has one type of elements: that of most of the
/// multiply-adds. Left out: what is no layer's, as optimiser and gradients.
[[nodiscard]] StepClocks step_clocks(const LayerOperations& operations,
                                     const std::function<double(const Load&)>& slowdown);

}  // namespace overlaptune
