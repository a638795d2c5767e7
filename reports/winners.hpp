#pragma once
// Tables of winners: for people, with every field, and their averages.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/snapshot.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// The time of `sequential` divided by that of the winner: the paired speedup where there is one,
/// otherwise the ratio of the medians; none without a time.
[[nodiscard]] std::optional<double> speedup(const Winner& winner);

/// `928+96`, `4 chunks`, `-`; long partitions are cut short with their number of groups.
[[nodiscard]] std::string brief_partition(const Config& config);

/// `ring`, `peer_access × 8`, `ring × 8, kernel waits`: the transport, the CTAs of the collectives
/// where NCCL does not choose them, and the wait where it is not the driver's.
[[nodiscard]] std::string brief_exchange(const Config& config);

/// The table at the end of a run, with one line for each winner. Where `gemms` has the problem of a
/// winner, there are columns with the products of models that it comes from and with their tokens.
[[nodiscard]] Table winners_table(const std::vector<Winner>& winners,
                                  std::span<const LayerGemm> gemms = {});

/// The table at the end of a run, with the overlap fraction; it is wider than most terminals.
[[nodiscard]] Table winners_with_overlap(const std::vector<Winner>& winners,
                                         std::span<const LayerGemm> gemms = {});

/// Every field of every winner, with its platform, for CSV. Where several products of models have
/// the same problem, `model`, `product`, `times_per_pass`, `parallelism` and `tokens` hold one
/// value for each, separated by semicolons.
[[nodiscard]] Table winners_in_full(const Snapshot& snapshot);

/// Geometric means of speedup and hidden fraction for each platform and op, and over all of a
/// platform. Two platforms of one name are not averaged together. Where a hidden fraction is not
/// positive (`sequential` won) only their arithmetic mean is defined.
[[nodiscard]] Table winner_means(const Snapshot& snapshot);

}  // namespace overlaptune
