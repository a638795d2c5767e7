#pragma once
// Plans of all ops that run one after the other without a pause, while ranks begin late.

#include "tests/gpu/plan_check/bench.hpp"
#include "tests/gpu/plan_check/results.hpp"
#include "tests/gpu/plan_check/selection.hpp"

namespace overlaptune::plan_check {

/// Checks that no plan disturbs the one after it: all plans of the world use the same memory, flags
/// and counters, and a rank may be in the next plan while another one is still in this one. Call it
/// after `check_all_cases`, which reserves the memory. Collective.
void check_in_turn(Bench& bench, const Selection& selection, Results& results);

}  // namespace overlaptune::plan_check
