#pragma once
// Bandwidths of a collective, as the tests of NCCL define them (nccl-tests, doc/PERFORMANCE.md).

#include "core/base/units.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// The algorithm bandwidth in 10^9 bytes per second: bytes of the whole buffer over time. The size
/// of nccl-tests is that buffer, too: what all ranks of an all-gather together bring, or what one
/// rank of another collective brings.
[[nodiscard]] double algorithm_bandwidth(Bytes whole_buffer, Microseconds time);

/// The bus bandwidth over the algorithm bandwidth: the bytes that cross a GPU's link in one
/// direction in the best ring, over the bytes of the buffer. It does not depend on the number of
/// ranks how near the bus bandwidth comes to that of the link.
[[nodiscard]] double bus_factor(Collective collective, int ranks);

}  // namespace overlaptune
