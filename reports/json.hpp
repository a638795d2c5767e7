#pragma once
// Values as JSON, in the words of docs/cli.md: units in the names, null for what does not apply.

#include <chrono>
#include <optional>

#include "core/candidate.hpp"
#include "core/platform.hpp"
#include "core/timeline.hpp"
#include "reports/table.hpp"

namespace overlaptune {

[[nodiscard]] OrderedJson json_of(const std::optional<double>& number);
[[nodiscard]] OrderedJson json_of(const std::optional<Microseconds>& time);

/// `op, m, n, k, dtype, ranks`.
[[nodiscard]] OrderedJson json_of(const Problem& problem);

/// `strategy, block_m, …, wave_groups, chunks, transport, wait`. Null: the tile where the library
/// chooses, `comm_ctas` where it is the collective library's default, `wave_groups`, `chunks` and
/// `wait` of the strategies that have none.
[[nodiscard]] OrderedJson json_of(const Config& config);

/// The platform's fields and its `fingerprint`.
[[nodiscard]] OrderedJson json_of(const Platform& platform);

/// `group, ready_us, start_us, end_us, exposed_us` of each group.
[[nodiscard]] OrderedJson json_of(const Timeline& timeline);

/// `problem`, `launch`, `config`, the times, `speedup` with p10 and p90, `hidden_fraction`,
/// `overlap_fraction`.
[[nodiscard]] OrderedJson json_of(const Winner& winner);

}  // namespace overlaptune
