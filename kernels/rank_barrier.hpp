#pragma once
// The means of a launch to have a barrier with its peers, and to end its waits.

#include <array>
#include <cstdint>

#include "kernels/rank_flags.hpp"
#include "kernels/wait_control.hpp"

namespace overlaptune::kernels {

/// The first `ranks` ranks of a world, as one of them sees them. All addresses are those on this
/// GPU.
struct RankBarrier {
  int rank = 0;
  int ranks = 0;
  int plan = 0;  ///< the number of the plan, for the text of a time-out
  WaitControl* control = nullptr;
  std::array<RankFlags*, RankFlags::kMostRanks> flags{};
};

}  // namespace overlaptune::kernels
