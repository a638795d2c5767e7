#pragma once
// The measured candidates of one problem, and which of them the model would have picked.

#include <map>
#include <tuple>
#include <vector>

#include "db/store.hpp"

namespace overlaptune {

using Rows = std::vector<const StoredCandidate*>;
using ProblemKey = std::tuple<PlatformId, Problem, Launch>;

/// Whether the candidate is valid and has a time.
[[nodiscard]] bool counts(const Candidate& candidate);

/// The newest row of each config, by problem; candidates that failed included.
[[nodiscard]] std::map<ProblemKey, Rows> newest_by_problem(
    const std::vector<StoredCandidate>& candidates);

/// The model's proposals in the newest run that has any, in the model's order.
[[nodiscard]] Rows proposals(const Rows& rows);

/// The fastest of `sequential` and the first `shortlist` proposals that ran; null if none ran.
[[nodiscard]] const StoredCandidate* fastest_listed(const Rows& rows, int shortlist);

/// The time of `sequential` for the same problem, by which candidates are compared (`paired_time`);
/// 1 if it was not measured.
[[nodiscard]] Microseconds sequential_of(const Rows& rows);

}  // namespace overlaptune
