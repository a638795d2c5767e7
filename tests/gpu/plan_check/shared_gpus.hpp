#pragma once
// Ranks that share GPUs: plans of several ranks are proved where there is only one GPU.

#include <string>

#include "tests/gpu/plan_check/bench.hpp"
#include "tests/gpu/plan_check/results.hpp"

namespace overlaptune::plan_check {

/// The reason why a plan of the config cannot be made in this placement; empty where it can.
[[nodiscard]] std::string obstacle(const Placement& placement, const Config& config);

/// Checks that the library refuses what ranks that share a GPU do not have: windows, and a
/// platform that results could be stored for. Call it after `check_all_cases`, which reserves the
/// memory. Collective.
void check_shared_refusals(Bench& bench, Results& results);

}  // namespace overlaptune::plan_check
