#pragma once
// Plans of few sequences, improved until no small change helps.

#include <vector>

#include "planning/sequences/search/fill.hpp"

namespace overlaptune {

/// Most sequences that `refine` is for.
inline constexpr int kMostRefined = 32;

/// Improves the micro-batches of all sequences in `runs`, at most `kMostRefined`. Sequences move
/// between micro-batches one by one and in exchange for another, as long as that helps; then a few
/// moves at random, and again (iterated local search: Lourenço, Martin and Stützle 2003). The
/// groups of each micro-batch come from branch and bound. The same input gives the same result.
[[nodiscard]] std::vector<Filled> refine(const Runs& runs,
                                         const std::vector<Filled>& micro_batches);

}  // namespace overlaptune
