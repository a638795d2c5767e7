#pragma once
// The clock under a power limit, for work that is replayed back to back.

#include "machine/simulator/profile.hpp"

namespace overlaptune::sim {

/// The work of one replay.
struct Load {
  double flops = 0;
  double wire_bytes = 0;
  double loaded_bytes = 0;  ///< from L2 into SMs
  double memory_bytes = 0;  ///< from and to device memory
};

/// The times of one replay, in microseconds, at clock factor `at`.
struct Round {
  double time = 0;
  double gemm = 0;  ///< the part of `time` in which a GEMM runs
  double at = 1;
  bool settled = false;  ///< replayed until clock and temperature had settled, for about a second
};

struct ClockState {
  double factor = 1;  ///< share of the highest clock while a GEMM runs
  double mean = 1;    ///< the mean of that share over a replay
  double power_w = 0;
};

/// The clock and the power of a load. Power is idle power plus the energy of the work over its
/// time. Above the limit the clock falls until the power meets it; power goes with the clock to the
/// power of 2.5 (frequency times voltage squared). The limit acts on a running average: the longer
/// the replays, the larger the part of the measuring loop that it governs.
/// A profile with `PowerProfile::governor` has another law (`governed`).
[[nodiscard]] ClockState clock_state(const Profile& profile, const Load& work, const Round& round);

/// The clock by voltage and two limits. The energy of a multiply-add and of a byte that an SM loads
/// goes with the voltage squared, which follows from the clock by a table. The mean power of a
/// replay meets `limit_w`, fully so once the clock has settled. While a GEMM runs, the power also
/// stays under `peak_w`. Between GEMMs the clock is the highest one.
[[nodiscard]] ClockState governed(const PowerProfile& power, double clock_mhz, const Load& work,
                                  const Round& round);

}  // namespace overlaptune::sim
