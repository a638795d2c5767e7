#pragma once
// Values as JSON, with the names of docs/cli.md: units are in the names, and null means that a
// field does not apply.

#include <chrono>
#include <optional>

#include "core/config/candidate.hpp"
#include "core/platform.hpp"
#include "core/timeline.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

[[nodiscard]] OrderedJson json_of(const std::optional<double>& number);
[[nodiscard]] OrderedJson json_of(const std::optional<Microseconds>& time);

/// `op, m, n, k, dtype, ranks`.
[[nodiscard]] OrderedJson json_of(const Problem& problem);

/// `strategy, block_m, …, wave_groups, chunks, k_chunks, transport, wait`. Null are the tile where
/// the GEMM library chooses, `comm_ctas` where NCCL chooses or none are taken, and fields that the
/// strategy does not have.
[[nodiscard]] OrderedJson json_of(const Config& config);

/// The platform's fields and its `fingerprint`.
[[nodiscard]] OrderedJson json_of(const Platform& platform);

/// `group, ready_us, start_us, end_us, exposed_us` of each group.
[[nodiscard]] OrderedJson json_of(const Timeline& timeline);

/// `problem`, `launch`, `config`, the times, `speedup` with p10 and p90, `hidden_fraction`,
/// `overlap_fraction`.
[[nodiscard]] OrderedJson json_of(const Winner& winner);

}  // namespace overlaptune
