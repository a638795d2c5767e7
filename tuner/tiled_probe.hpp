#pragma once
// The probe of a config's generated GEMM.

#include "core/config/config.hpp"
#include "core/measurement.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// The generated GEMM of a config alone, on all SMs. Probes have one row block, so the probe's
/// swizzle groups have all panels that the config's tiles walk together.
[[nodiscard]] GemmProbe tiled_probe(const Problem& problem, const Config& config);

}  // namespace overlaptune
