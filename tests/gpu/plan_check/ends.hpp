#pragma once
// Errors and ends of worlds: what one rank meets must reach all of them, and nothing may hang.

#include "tests/gpu/plan_check/bench.hpp"
#include "tests/gpu/plan_check/results.hpp"

namespace overlaptune::plan_check {

/// Collective. Most checks make worlds of their own.
void check_ends(Bench& bench, Results& results);

}  // namespace overlaptune::plan_check
