#pragma once
// The GEMM of a `signaled` config, beside its collectives.

#include <algorithm>
#include <cstdint>

#include "strategies/signaled/model_collectives.hpp"

namespace overlaptune::signaled {

/// A generated GEMM that runs on all SMs for the first group. Its tile time is at the clock that it
/// will run at.
struct ClockedGemm {
  double tile_time = 0;
  double per_launch = 0;
  double spread = 0;
  int sms = 0;
  int all_sms = 0;
  double fed_slower = 1;  ///< factor on the slowdown of the probed tile, beside a collective
  OverlapRates rates{};   ///< beside its collectives

  /// Time of a first group of `tiles` tiles, on all SMs.
  [[nodiscard]] double first(std::int64_t tiles) const {
    return per_launch + overlaptune::produced(tile_time, tiles, all_sms, spread);
  }
  /// Least time of `tiles` tiles in any partition: all SMs are busy to the end.
  [[nodiscard]] double least(std::int64_t tiles) const {
    return per_launch + tile_time * static_cast<double>(tiles) / all_sms;
  }
  /// Time of the first `tiles` tiles, if the first group has `first_tiles` of them. The SMs that
  /// leave after the first group compute some of its tiles (`leaving` tiles of each whole turn, and
  /// the first ones of the last turn: kernels/device/tiles.cuh). The other SMs compute all the
  /// rest.
  [[nodiscard]] double until(std::int64_t tiles, std::int64_t first_tiles) const {
    if (tiles == first_tiles) return first(tiles);
    const std::int64_t leaving = all_sms - sms;
    const std::int64_t done =
        first_tiles / all_sms * leaving + std::min(first_tiles % all_sms, leaving);
    return std::max(first(first_tiles),
                    per_launch + overlaptune::produced(tile_time, tiles - done, sms, spread));
  }
};

/// The groups of the GEMM, before it is known where they end. `produced`: the GEMM alone takes as
/// long.
[[nodiscard]] WholeProblem whole_problem(const ClockedGemm& gemm, const GroupCollectives& groups,
                                         double produced);

/// The rates beside a GEMM of this tile, which a collective slows `fed_slower` times as much as the
/// probed one.
[[nodiscard]] OverlapRates rates_beside(const GroupCollectives& groups, const Tile& tile,
                                        double fed_slower);

/// The GEMM beside its collectives.
[[nodiscard]] GemmWork work_beside(const GroupCollectives& groups, const Tile& tile,
                                   const TileOrder& order, std::int64_t k);

/// The GEMM of `work` at the clock that it will run at. `tile_time` is at full clock.
[[nodiscard]] ClockedGemm clocked(const ClockModel& clock, const Problem& problem,
                                  const GemmWork& work, double tile_time,
                                  const GroupCollectives& groups);

}  // namespace overlaptune::signaled
