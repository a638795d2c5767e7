#pragma once
// Held-out points to judge the model by: of the kinds that are probed, but not probed themselves.

#include <cstdint>
#include <span>
#include <vector>

#include "core/measurement.hpp"

namespace overlaptune {

/// `count` collectives, drawn from the settings (op, ranks, comm CTAs, transport) of the
/// measurements, with sizes log-uniform between 4 KiB and 512 MiB, in whole rows of published
/// models (the same number of rows on each rank). None of them is among the measurements. There are
/// fewer where the settings do not have as many other points.
[[nodiscard]] std::vector<Probe> held_out_collectives(std::span<const Measurement> measurements,
                                                      int count, std::uint64_t seed);

/// A probe of the whole GEMM of each problem; each probe once.
[[nodiscard]] std::vector<Probe> gemms_of(std::span<const Problem> problems);

}  // namespace overlaptune
