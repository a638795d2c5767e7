#pragma once
// Stored winners, timed once more as other programs would run them.

#include <filesystem>

#include "tests/gpu/plan_check/bench.hpp"
#include "tests/gpu/plan_check/results.hpp"

namespace overlaptune::plan_check {

/// Times the winners of this platform and launch `graph`; those of `problems` only, if there are
/// any. It takes the steps of other programs: detect, open, query, make the plan, run it.
/// Collective.
void time_winners(Bench& bench, const std::filesystem::path& file, std::vector<Problem> problems,
                  Results& results);

}  // namespace overlaptune::plan_check
