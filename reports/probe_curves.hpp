#pragma once
// The measurements of platforms, as the curves that the model is fitted to.

#include <vector>

#include "reports/snapshot.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// Eight tables with one row a measurement, for all platforms: `collectives` (bandwidth: bytes of
/// the whole buffer over time; algbw and busbw as nccl-tests defines them), `sustained`, `gemms`,
/// `contention` (factors by which each side is slower than alone; none where it was not probed
/// alone), `copies`, `launch_costs`, `peer_copies`, `layer_operations` (gb_per_s of bytes,
/// tflop_per_s of attention).
[[nodiscard]] std::vector<Table> probe_curves(const Snapshot& snapshot);

}  // namespace overlaptune
