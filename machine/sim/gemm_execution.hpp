#pragma once
// Runs the tiles of a GEMM on the SMs of one GPU.

#include <cstdint>
#include <span>
#include <vector>

#include "machine/sim/noise.hpp"
#include "machine/sim/tile_physics.hpp"

namespace overlaptune::sim {

/// Consecutive tiles of equal time, in order.
struct TileRun {
  std::int64_t tiles = 0;
  double time = 0;
};

/// The tiles of a kernel, cut where groups end (`group_ends`: ascending tile counts, the last one
/// is all tiles).
struct TileSchedule {
  int sms = 0;
  int more_sms = 0;  ///< besides these, for the first group only
  double start = 0;  ///< until the first tile
  std::vector<TileRun> runs{};
  std::vector<std::size_t> group_runs{};  ///< runs up to the end of each group
};

[[nodiscard]] TileSchedule tile_schedule(const GemmKernel& kernel, const TileTimes& times,
                                         std::span<const std::int64_t> group_ends);

/// SMs take tiles one by one; of the first group's those that end last leave. Each tile takes its
/// time times (1 + spread * normal). Returns when the last tile of each group ends, in microseconds
/// from the start of the kernel.
[[nodiscard]] std::vector<double> execute(const TileSchedule& schedule, double spread,
                                          const Noise& noise);

/// The library's kernel for `blocks` products of (rows x k) by B^T (n x k) on `sms` SMs: the tile
/// of its menu that it expects to be fastest.
[[nodiscard]] GemmKernel library_kernel(const Profile& profile, Dtype dtype, int blocks,
                                        std::int64_t rows, std::int64_t n, std::int64_t k, int sms);

}  // namespace overlaptune::sim
