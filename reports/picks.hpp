#pragma once
// What was measured of one problem, and what the model would have picked of it.

#include <map>
#include <tuple>
#include <vector>

#include "db/store.hpp"

namespace overlaptune {

using Rows = std::vector<const StoredCandidate*>;
using ProblemKey = std::tuple<PlatformId, Problem, Launch>;

/// Valid, with a time.
[[nodiscard]] bool counts(const Candidate& candidate);

/// The newest row of each config, by problem; candidates that failed included.
[[nodiscard]] std::map<ProblemKey, Rows> newest_by_problem(
    const std::vector<StoredCandidate>& candidates);

/// What the model proposed in the newest run that has proposals, in its order.
[[nodiscard]] Rows proposals(const Rows& rows);

/// The fastest of the first `shortlist` of them that ran and of `sequential`; null if none did.
[[nodiscard]] const StoredCandidate* fastest_listed(const Rows& rows, int shortlist);

/// `sequential` of the same problem, by whose measure candidates are compared; 1 if it was not
/// measured.
[[nodiscard]] Microseconds sequential_of(const Rows& rows);

}  // namespace overlaptune
