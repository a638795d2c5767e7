#pragma once
// The GEMM of a `signaled` config, beside its collectives.

#include <algorithm>
#include <cstdint>

#include "model/signaled_collectives.hpp"

namespace overlaptune::signaled {

/// A generated GEMM, on all SMs for the first group, with its tile time at the clock that it will
/// run at.
struct ClockedGemm {
  double tile_time = 0;
  double per_launch = 0;
  double spread = 0;
  int sms = 0;
  int all_sms = 0;
  double fed_slower = 1;  ///< factor against the probed tile, beside a collective
  OverlapRates rates{};   ///< beside its collectives

  /// A first group of so many tiles, on all SMs.
  [[nodiscard]] double first(std::int64_t tiles) const {
    return per_launch + overlaptune::produced(tile_time, tiles, all_sms, spread);
  }
  /// No partition takes less: all SMs are busy to the end.
  [[nodiscard]] double least(std::int64_t tiles) const {
    return per_launch + tile_time * static_cast<double>(tiles) / all_sms;
  }
  /// The first `tiles` tiles, when the first group has `first_tiles` of them: those that the SMs do
  /// which then leave are as good as not there for the others. (They do `leaving` of each whole
  /// turn, and the first ones of the last: kernels/device/tiles.cu.)
  [[nodiscard]] double until(std::int64_t tiles, std::int64_t first_tiles) const {
    if (tiles == first_tiles) return first(tiles);
    const std::int64_t leaving = all_sms - sms;
    const std::int64_t done =
        first_tiles / all_sms * leaving + std::min(first_tiles % all_sms, leaving);
    return std::max(first(first_tiles),
                    per_launch + overlaptune::produced(tile_time, tiles - done, sms, spread));
  }
};

/// The rates beside a GEMM that a collective slows `fed_slower` times as much as the probed one.
[[nodiscard]] OverlapRates rates_beside(const GroupCollectives& groups, const Tile& tile,
                                        double fed_slower);

/// What the GEMM computes beside its collectives.
[[nodiscard]] GemmWork work_beside(const GroupCollectives& groups, const Tile& tile,
                                   const TileOrder& order, std::int64_t k);

/// `tile_time` is at full clock.
[[nodiscard]] ClockedGemm clocked(const ClockModel& clock, const Problem& problem,
                                  const GemmWork& work, double tile_time,
                                  const GroupCollectives& groups);

}  // namespace overlaptune::signaled
