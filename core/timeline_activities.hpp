#pragma once
// What GPUs did, from a timeline: for machines that tell one and are not seen at work.

#include <vector>

#include "core/activity.hpp"
#include "core/problem.hpp"
#include "core/timeline.hpp"

namespace overlaptune {

/// One rank, the slowest: the GEMM on stream 0, its collectives on stream 1. A timeline does not
/// say when the GEMM paused, only how long each collective ran without it: the pauses are put at
/// the ends of the collectives, so that `busy` finds the timeline's own exposed times.
[[nodiscard]] std::vector<Activity> activities_of(const Timeline& timeline, Op op);

}  // namespace overlaptune
