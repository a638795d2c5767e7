#pragma once
// The bandwidths of collectives that were probed, in one short table.

#include <span>

#include "core/measurement.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// `collective, ranks, bytes, transport, comm_ctas, time_us, algbw_gb_per_s, busbw_gb_per_s`
/// (reports/bandwidth.hpp), by collective, ranks and bytes. With `every_point` all measurements;
/// otherwise, for each collective and rank count, the smallest, the middle and the largest size,
/// each by the transport and the CTAs that were fastest. `comm_ctas` is empty where NCCL chose.
[[nodiscard]] Table bandwidth_table(std::span<const Measurement> measurements, bool every_point);

}  // namespace overlaptune
