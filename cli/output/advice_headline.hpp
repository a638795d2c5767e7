#pragma once
// The first lines of the advice for a model: what overlap gains, how to divide it, what it rests
// on.

#include <string>

#include "cli/output/advice_output.hpp"
#include "cli/output/assumptions.hpp"

namespace overlaptune::cli {

/// Three lines. They speak of the largest and the smallest number of tokens that were asked for.
/// Needs a pass.
[[nodiscard]] std::string headline(const Advised& advised, const Assumptions& assumptions);

}  // namespace overlaptune::cli
