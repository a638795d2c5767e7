#pragma once
// Bandwidths of a collective, as the tests of NCCL define them (nccl-tests, doc/PERFORMANCE.md).

#include "core/base/units.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// The algorithm bandwidth in 10^9 bytes per second: bytes of the whole buffer over time. The size
/// of nccl-tests is that buffer, too: what all ranks of an all-gather together bring, or what one
/// rank of another collective brings.
[[nodiscard]] inline double algorithm_bandwidth(Bytes whole_buffer, Microseconds time) {
  return static_cast<double>(whole_buffer.count) / time.count() * 1e-3;
}

/// The bus bandwidth over the algorithm bandwidth: the bytes that cross a GPU's link in one
/// direction in the best ring, over the bytes of the buffer. It does not depend on the number of
/// ranks how near the bus bandwidth comes to that of the link.
[[nodiscard]] inline double bus_factor(Collective collective, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  return collective == Collective::all_reduce ? 2 * others : others;
}

}  // namespace overlaptune
