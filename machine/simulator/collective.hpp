#pragma once
// The time of a collective when nothing runs beside it.

#include "machine/simulator/profile.hpp"

namespace overlaptune::sim {

struct CollectiveRun {
  double time = 0;        ///< microseconds, launch not included
  double wire_bytes = 0;  ///< bytes that each rank sends
  double link_load = 0;   ///< share of the best bandwidth that this collective reaches, 0 to 1
  double latency = 0;     ///< the part of the time that the smallest buffer takes too
  double demand = 0;      ///< what its CTAs can request, as a multiple of what the links carry
  double queue = 0;       ///< length of the queue in which the stores of a GEMM beside it wait
  const CollectiveProfile* profile = nullptr;
};

/// The queue that CTAs make. Until they request what the links carry it is short; then it grows
/// with what they request in excess. `demand`: as of `CollectiveRun`.
[[nodiscard]] double queue_of(const CollectiveProfile& profile, double demand);

/// The collective on a buffer of `bytes` in all; `ctas` 0 is NCCL's choice.
[[nodiscard]] Expected<CollectiveRun> collective_run(const Profile& profile, Collective collective,
                                                     double bytes, int ranks, int ctas,
                                                     Transport transport);

}  // namespace overlaptune::sim
