#pragma once
// Candidates that may not win, and why.

#include "reports/snapshot.hpp"
#include "reports/table.hpp"

namespace overlaptune {

/// One row a candidate whose verdict is not `valid`.
[[nodiscard]] Table failures(const Snapshot& snapshot);

}  // namespace overlaptune
