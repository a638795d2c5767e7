#pragma once
// Points to judge the model by: of the kinds that are probed, and not probed themselves.

#include <cstdint>
#include <span>
#include <vector>

#include "core/measurement.hpp"
#include "core/platform.hpp"

namespace overlaptune {

/// `count` collectives, drawn from the settings (op, ranks, comm CTAs, transport) of the
/// measurements, with sizes log-uniform between 4 KiB and 512 MiB in whole rows of published models
/// (the same number on each rank); none of the measurements' own. Fewer where those settings have
/// not as many points, or hardly.
[[nodiscard]] std::vector<Probe> held_out_collectives(std::span<const Measurement> measurements,
                                                      int count, std::uint64_t seed);

/// The whole GEMM of each problem, once.
[[nodiscard]] std::vector<Probe> gemms_of(std::span<const Problem> problems);

}  // namespace overlaptune
