#pragma once
// Winners: as a table for people, with every field, and their averages.

#include <optional>
#include <string>
#include <vector>

#include "reports/snapshot.hpp"
#include "reports/table.hpp"

namespace overlaptune {

/// `sequential` over the winner: paired where it was, otherwise of the medians; none without a
/// time.
[[nodiscard]] std::optional<double> speedup(const Winner& winner);

/// `928+96`, `4 chunks`, `-`; long partitions are cut short with their number of groups.
[[nodiscard]] std::string brief_partition(const Config& config);

/// `ring`, `peer_access × 8`, `ring × 8, kernel waits`: transport, CTAs of the collectives where
/// they are not the collective library's default, and who waits where it is not the driver.
[[nodiscard]] std::string brief_exchange(const Config& config);

/// What a person wants to see at the end of a run; one line a winner.
[[nodiscard]] Table winners_table(const std::vector<Winner>& winners);

/// The same with the overlap fraction: wider than most terminals.
[[nodiscard]] Table winners_with_overlap(const std::vector<Winner>& winners);

/// Every field of every winner, with its platform: for CSV.
[[nodiscard]] Table winners_in_full(const Snapshot& snapshot);

/// Geometric means of speedup and hidden fraction for each platform and op, and over all of a
/// platform. Where a hidden fraction is not positive (`sequential` won) only their arithmetic mean
/// is defined.
[[nodiscard]] Table winner_means(const Snapshot& snapshot);

}  // namespace overlaptune
