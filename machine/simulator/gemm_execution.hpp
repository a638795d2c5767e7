#pragma once
// Runs the tiles of a GEMM on the SMs of one GPU.

#include <cstdint>
#include <span>
#include <vector>

#include "machine/simulator/noise.hpp"
#include "machine/simulator/tile_physics.hpp"

namespace overlaptune::sim {

/// Consecutive tiles of equal time, in order.
struct TileRun {
  std::int64_t tiles = 0;
  double time = 0;
};

/// The tiles of a kernel, cut at the ends of groups. `group_ends` has ascending numbers of tiles;
/// the last one is all tiles.
struct TileSchedule {
  int sms = 0;
  int more_sms = 0;  ///< additional SMs, for the first group only
  double start = 0;  ///< time until the first tile
  std::vector<TileRun> runs{};
  std::vector<std::size_t> group_runs{};  ///< number of runs up to the end of each group
};

[[nodiscard]] TileSchedule tile_schedule(const GemmKernel& kernel, const TileTimes& times,
                                         std::span<const std::int64_t> group_ends);

/// Lets SMs take tiles one by one. After the first group, the SMs that end last leave. Each tile
/// takes its time times (1 + spread * normal). No tile of group i begins before `arrivals[i]`;
/// empty: none has to wait. Returns the end of the last tile of each group, in microseconds from
/// the start of the kernel.
[[nodiscard]] std::vector<double> execute(const TileSchedule& schedule, double spread,
                                          const Noise& noise,
                                          std::span<const double> arrivals = {});

/// The library's kernel for `blocks` products of (rows x k) by B^T (n x k) on `sms` SMs. Its tile
/// is the one of the library's menu that the library expects to be fastest.
[[nodiscard]] GemmKernel library_kernel(const Profile& profile, Elements elements, int blocks,
                                        std::int64_t rows, std::int64_t n, std::int64_t k, int sms);

}  // namespace overlaptune::sim
