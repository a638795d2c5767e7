#pragma once
// Candidates that are not valid, and the reasons.

#include "reports/snapshot.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// A table with one row for each candidate whose verdict is not `valid`.
[[nodiscard]] Table failures(const Snapshot& snapshot);

}  // namespace overlaptune
