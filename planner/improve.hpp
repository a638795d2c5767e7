#pragma once
// Local search on one micro-batch: moves and swaps that shorten its slowest group.

#include <span>

#include "planner/pack.hpp"

namespace overlaptune {

/// Moves sequences out of the slowest group, swaps them for shorter ones, and widens the group
/// where GPUs are free, as long as the micro-batch becomes shorter; at most `steps` times.
void improve(const Rates& rates, std::span<const Run> runs, int steps, Filled& filled);

}  // namespace overlaptune
