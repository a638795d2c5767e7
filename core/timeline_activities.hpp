#pragma once
// Activities made from a timeline, for machines that give a timeline and cannot trace.

#include <vector>

#include "core/activity.hpp"
#include "core/problem.hpp"
#include "core/timeline.hpp"

namespace overlaptune {

/// The activities of the slowest rank: the GEMM on stream 0, its collectives on stream 1. A
/// timeline says how long each collective ran without the GEMM, but not when the GEMM paused. The
/// pauses are put at the ends of the collectives, so that `busy` finds the exposed times of the
/// timeline.
[[nodiscard]] std::vector<Activity> activities_of(const Timeline& timeline, Op op);

}  // namespace overlaptune
