#pragma once
// The winners of one platform, ready as answers.

#include <functional>
#include <unordered_map>

#include "core/capabilities.hpp"
#include "core/config/check.hpp"
#include "db/store.hpp"
#include "query/answer.hpp"
#include "query/problem_key.hpp"

namespace overlaptune {

using Winners = std::unordered_map<PackedProblem, Answer, PackedProblemHash>;

/// Adds the winners of a platform in a database, except those that a machine with these
/// capabilities cannot run: they may be of an older program. Of two winners for one problem and
/// launch the first stays. Damaged ones go to `damaged`.
inline void add_winners(Winners& winners, const Store& store, PlatformId platform,
                        const Capabilities& capabilities,
                        const std::function<Answer(const StoredWinner&)>& answer,
                        const std::function<void(const DamagedWinner&)>& damaged) {
  const auto add = [&](const StoredWinner& stored) {
    const Candidate& winner = stored.winner.candidate;
    if (!check(winner.problem, winner.config, capabilities)) return;
    winners.try_emplace({winner.problem, winner.launch}, answer(stored));
  };
  store.each_winner(platform, add, damaged);
}

}  // namespace overlaptune
