#pragma once
// Every op, strategy and transport must be right: eager and as a captured graph, on the caller's
// own memory and on the world's.

#include "tests/gpu/plan_check/bench.hpp"
#include "tests/gpu/plan_check/results.hpp"

namespace overlaptune::plan_check {

/// Collective.
void check_all_cases(Bench& bench, Results& results);

/// What must be refused, on every rank. Collective.
void check_refusals(Bench& bench, Results& results);

}  // namespace overlaptune::plan_check
