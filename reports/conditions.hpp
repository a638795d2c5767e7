#pragma once
// The conditions under which the results of a database were measured.

#include "reports/snapshot.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// A table with one row for each fact: the fields of each platform, its last tuning run (program
/// version, host, command line, seed, time), and the spread of SM clock and power over its
/// candidates.
[[nodiscard]] Table conditions(const Snapshot& snapshot);

}  // namespace overlaptune
