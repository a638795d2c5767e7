#pragma once
// Runs a schedule whose GEMM stores its tiles at their owners, repetition by repetition.

#include "machine/simulator/execution.hpp"

namespace overlaptune::sim {

/// `schedule.stores` is set.
[[nodiscard]] Execution execute_stores(const Setting& setting, const Schedule& schedule,
                                       const Noise& noise);

}  // namespace overlaptune::sim
