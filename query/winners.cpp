#include "query/winners.hpp"

#include "core/config/check.hpp"

namespace overlaptune {

void add_winners(Winners& winners, const Store& store, PlatformId platform,
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
