#pragma once
// Every op, strategy and transport must be right: eager and as a captured graph, on the caller's
// own memory and on the world's.

#include "tests/gpu/plan_check/bench.hpp"
#include "tests/gpu/plan_check/results.hpp"
#include "tests/gpu/plan_check/selection.hpp"

namespace overlaptune::plan_check {

/// Collective.
void check_all_cases(Bench& bench, const Selection& selection, Results& results);

/// Checks that plans stay right when the world's memory grows, three times, and when it cannot.
/// Call it first, while the world is small. Collective.
void check_growth(Bench& bench, const Selection& selection, Results& results);

/// Checks every op and type with numbers of rows that no tile divides (1, 7, 129, 1000), on tiles
/// of each kind. Ranks that share GPUs check some of them, because they are slow. Call it after
/// `check_all_cases`, which reserves more memory than these need. Collective.
void check_odd_shapes(Bench& bench, const Selection& selection, Results& results);

/// Checks that wrong requests are refused on every rank. Collective.
void check_refusals(Bench& bench, Results& results);

}  // namespace overlaptune::plan_check
