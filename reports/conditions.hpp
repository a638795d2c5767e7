#pragma once
// Under which conditions the results of a database came about.

#include "reports/snapshot.hpp"
#include "reports/table.hpp"

namespace overlaptune {

/// One row a fact: the fields of each platform, its last tuning run (program version, host, command
/// line, seed, time), and the spread of SM clock and power over its candidates.
[[nodiscard]] Table conditions(const Snapshot& snapshot);

}  // namespace overlaptune
