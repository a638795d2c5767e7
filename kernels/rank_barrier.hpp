#pragma once
// The means of a launch to have a barrier with its peers, and to end its waits.

#include <array>
#include <cstdint>

#include "kernels/rank_flags.hpp"

namespace overlaptune::kernels {

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

  [[nodiscard]] device::u64 step() const { return (device::u64{work} << 32) + 1; }
};

}  // namespace overlaptune::kernels
