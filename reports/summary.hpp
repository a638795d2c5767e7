#pragma once
// The first lines of a report: what was measured, when, on what, and what came of it.

#include <string>

#include "reports/snapshot.hpp"

namespace overlaptune {

/// A Markdown list with one line for each platform: `8 × NVIDIA H200 (cuda:h200-nvlink-x8), driver
/// 580.1, …; 2026-11-22 on node7, overlaptune 0.1.0: 24 winners, 1.26 times as fast as sequential
/// in the geometric mean`. Simulated platforms are marked.
[[nodiscard]] std::string summary(const Snapshot& snapshot);

}  // namespace overlaptune
