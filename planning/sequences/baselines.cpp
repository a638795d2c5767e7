#include "planning/sequences/baselines.hpp"

#include "planning/sequences/search/assemble.hpp"
#include "planning/sequences/simple_plans.hpp"

namespace overlaptune {

std::optional<BatchPlan> plan_with_level(const Runs& runs, int level) {
  // A sequence that does not fit would get a wider group.
  if (runs.size() == 0 || runs.holding_level(0, level) != level) return std::nullopt;
  const std::vector<Filled> made = simple_plan(runs, level);
  if (made.empty()) return std::nullopt;
  return plan_of(runs, made);
}

}  // namespace overlaptune
