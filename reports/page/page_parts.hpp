#pragma once
// The parts of the document of page_data.hpp.

#include <map>

#include "reports/page/page_data.hpp"

namespace overlaptune {

/// Rows refer to a platform by its position in `Snapshot::platforms`.
using PlatformIndex = std::map<PlatformId, std::size_t>;
[[nodiscard]] PlatformIndex platform_index(const Snapshot& snapshot);

/// A number of microseconds (or of any unit) with three decimals; null where it is not finite.
[[nodiscard]] OrderedJson rounded(double number);

/// A list with one object for each platform.
[[nodiscard]] OrderedJson page_platforms(const PageInput& input);

/// One row for each product of a model that a winner is, and one for a winner of which no product
/// is known.
[[nodiscard]] OrderedJson page_winners(const PageInput& input, const PlatformIndex& platforms);

/// Measured candidates, predicted and measured: all of them, or where there are many, evenly
/// chosen ones. `total` says how many there are.
[[nodiscard]] OrderedJson page_candidates(const Snapshot& snapshot, const PlatformIndex& platforms);

/// The probed collectives, alone.
[[nodiscard]] OrderedJson page_collectives(const Snapshot& snapshot,
                                           const PlatformIndex& platforms);

/// Candidates that are not valid. `total` says how many there are; the newest are listed.
[[nodiscard]] OrderedJson page_failures(const Snapshot& snapshot, const PlatformIndex& platforms);

}  // namespace overlaptune
