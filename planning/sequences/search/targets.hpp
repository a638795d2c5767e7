#pragma once
// How long each micro-batch of a batch may take.

#include <vector>

#include "planning/sequences/search/fill.hpp"

namespace overlaptune {

/// A time for each micro-batch. The first takes what it can of all sequences, longest first, the
/// second what it can of the rest, and so on; the last one takes all that is left, in a time of its
/// own.
struct Targets {
  std::vector<double> times{};
  int least_level = 0;  ///< of the groups
  double sum = 0;  ///< of the times that the micro-batches then take; infinite: they do not suffice
};

/// Good targets for a number of micro-batches of groups that have at least `least_level`, one entry
/// for each degree that the longest sequence may have; best first. For each, bisection finds the
/// least common target that suffices where only the first micro-batch may take longer, as the
/// longest sequence needs; then the targets of the best are varied one by one.
[[nodiscard]] std::vector<Targets> search_targets(const Runs& runs, int micro_batches,
                                                  int least_level);

}  // namespace overlaptune
