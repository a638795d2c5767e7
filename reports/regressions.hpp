#pragma once
// Judgement of a comparison, for CI: what became slower, and what could not be compared.

#include <vector>

#include "reports/comparison.hpp"

namespace overlaptune {

/// The winners that are slower here by more than the noise and by more than a fraction of the time
/// there, the slowest first.
[[nodiscard]] std::vector<const ComparedWinner*> slower_by(const Comparison& comparison,
                                                           double fraction);

/// The winners there that have a time to compare with here.
[[nodiscard]] std::vector<const ComparedWinner*> compared(const Comparison& comparison);

/// The winners there without a time to compare with: tuning ended early here, or a whole platform
/// is missing.
[[nodiscard]] std::vector<const ComparedWinner*> missing_here(const Comparison& comparison);

}  // namespace overlaptune
