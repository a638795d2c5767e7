#pragma once
// Plans of simple rules, each made in near-linear time.

#include <optional>
#include <vector>

#include "planning/sequences/plan.hpp"
#include "planning/sequences/search/fill.hpp"

namespace overlaptune {

/// Sum of the micro-batches; infinite where there is none, or one has no group.
[[nodiscard]] double time_of(const std::vector<Filled>& micro_batches);

/// Divides micro-batches until their number is a multiple of `Limits::micro_batches`, each time
/// where that costs the least. Empties the list where there are too few sequences.
void divide_to_multiple(const Runs& runs, std::vector<Filled>& micro_batches);

/// The fastest of the rules in `planning/sequences/search/bins.hpp`, with several numbers of
/// micro-batches, where no group has a level below `level`. Empty: a sequence does not fit.
[[nodiscard]] std::vector<Filled> simple_plan(const Runs& runs, int level);

/// A plan with one degree for all groups, as one would set up by hand: the fastest of the same
/// rules. None: a sequence does not fit, or the level is not allowed.
[[nodiscard]] std::optional<BatchPlan> plan_with_level(const Runs& runs, int level);

}  // namespace overlaptune
