#pragma once
// The means of a launch to have a barrier with its peers, and to end its waits.

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/config/tiling.hpp"
#include "kernels/device/flags.cuh"

namespace overlaptune::kernels {

using device::Awaited;
using device::RankFlags;
using device::WaitControl;
static_assert(kMostRegions == RankFlags::kCounters);

/// The first `ranks` ranks of a world, as one of them sees them. All addresses are those on this
/// GPU.
struct RankBarrier {
  int rank = 0;
  int ranks = 0;
  int plan = 0;            ///< the number of the plan, for the text of a time-out
  std::uint32_t work = 0;  ///< the same on all ranks that do the same work, and on no others
  /// The place of this rank's part of an exchange (`RankFlags::places`), where ranks may have
  /// theirs at different ones.
  std::uint32_t place = device::kNoPlace;
  WaitControl* control = nullptr;
  std::array<RankFlags*, RankFlags::kMostRanks> flags{};
};

}  // namespace overlaptune::kernels

namespace overlaptune::kernels::device {

/// The parameter of a kernel that works off `items` of the queue on `clusters` clusters, and has no
/// barrier with the ranks itself.
inline Run run_of(const RankBarrier& barrier, int items = 0, int clusters = 1) {
  Run run{};
  run.rank = barrier.rank;
  run.ranks = barrier.ranks;
  run.plan = barrier.plan;
  run.items = items;
  run.clusters = clusters;
  run.step = (u64{barrier.work} << 32) + 1;
  run.place = barrier.place;
  run.control = barrier.control;
  std::copy(barrier.flags.begin(), barrier.flags.end(), run.flags);
  return run;
}

}  // namespace overlaptune::kernels::device
