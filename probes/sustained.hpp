#pragma once
// The sustained probes: GEMM and collective in turn for about a second, until clock and power have
// settled.

#include <optional>
#include <span>
#include <vector>

#include "core/gpu.hpp"
#include "core/measurement.hpp"
#include "core/platform.hpp"
#include "probes/probes.hpp"

namespace overlaptune {

/// The tile with the most stages, at most 6, that fits; `tile` says its sides and its cluster.
[[nodiscard]] std::optional<Tile> deepest(Tile tile, const GpuLimits& limits, Elements elements);

/// For each rank count a library's GEMM in turn with collectives, from a GEMM that runs most of the
/// time to one that runs a fifth of it. At full depth, on the most ranks, also GEMMs that run
/// nearly all the time: the library's, and generated ones in tiles that load more and less for each
/// multiply-add, on all SMs and on fewer. A law of the clock that knows one number of SMs only does
/// not hold for another.
[[nodiscard]] std::vector<Probe> sustained_plan(const Platform& platform,
                                                std::span<const int> ranks, ProbeDepth depth,
                                                Elements elements);

}  // namespace overlaptune
