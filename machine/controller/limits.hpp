#pragma once
// Time-outs: how long a worker may be silent before it counts as hung.

#include <chrono>
#include <vector>

#include "machine/controller/launch/launch_environment.hpp"
#include "machine/controller/wire/messages.hpp"

namespace overlaptune::cuda {

/// The limits are generous: a limit that is too long costs time only when something hangs, one that
/// is too short loses a config. Preparing compiles kernels, makes connections and computes
/// references.
struct Limits {
  std::chrono::milliseconds meet = kMeetLimit;  ///< until all ranks of a launcher have met
  std::chrono::milliseconds start{60'000};      ///< until all workers have said hello
  std::chrono::milliseconds join{120'000};  ///< NCCL's first communicator of many ranks takes long
  std::chrono::milliseconds unknown{120'000};  ///< one probe, and any step of unknown length
  std::chrono::milliseconds prepare{20'000};   ///< added to 2000 times the expected time
  std::chrono::milliseconds check{8'000};      ///< the same for runs whose result is checked
  std::chrono::milliseconds time{5'000};       ///< added to 200 times that of the repetitions
};

/// The limits of ranks that run in turn on a GPU that they share (core/gpu_sharing.hpp).
[[nodiscard]] Limits limits_of_sharing_ranks();

/// The time-out for the next message after `step` (null: after the request). `expected`: predicted
/// times of the configs of the request, empty where unknown. Timing takes all configs in turn, so
/// it gets the sum of their times, as does a step of no config in particular.
[[nodiscard]] std::chrono::milliseconds limit_after(const RunStep* step, const Limits& limits,
                                                    const std::vector<Microseconds>& expected,
                                                    int repetitions);

}  // namespace overlaptune::cuda
