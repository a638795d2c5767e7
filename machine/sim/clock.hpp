#pragma once
// The clock under a power limit, for work that is replayed back to back.

#include "machine/sim/effects.hpp"
#include "machine/sim/profile.hpp"

namespace overlaptune::sim {

/// The work of one replay.
struct Load {
  double flops = 0;
  double wire_bytes = 0;
};

struct ClockState {
  double factor = 1;  ///< share of the highest clock
  double power_w = 0;
};

/// The clock and the power of a load. Power is idle power plus the energy of the work over its
/// `time` (microseconds). Above the limit the clock falls until the power meets it; power goes with
/// the clock to the power of 2.5 (frequency times voltage squared). The limit acts on a running
/// average: the longer the replays, the larger the part of the measuring loop that it governs.
/// `time` is at clock factor `at`.
[[nodiscard]] ClockState clock_state(const Profile& profile, const Effects& effects,
                                     const Load& work, double time, double at);

}  // namespace overlaptune::sim
