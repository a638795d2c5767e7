#pragma once
// Families: one for each op, strategy and transport, with numbers of rows that it was not made
// with.

#include "tests/gpu/plan_check/bench.hpp"
#include "tests/gpu/plan_check/results.hpp"
#include "tests/gpu/plan_check/selection.hpp"

namespace overlaptune::plan_check {

/// Checks that a family is right with rows that are new to it, eager and in a graph that is
/// captured at their first run; that such a run waits for no work of the stream; and that it leaves
/// as much GPU memory free as there was. Prints the longest time of a first run on the host. Call
/// it after `check_all_cases`, which reserves the memory. Collective.
void check_families(Bench& bench, const Selection& selection, Results& results);

}  // namespace overlaptune::plan_check
