#pragma once
// All winners of one platform, to be found in tens of nanoseconds.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "query/problem_key.hpp"

namespace overlaptune {

/// A hash table with open addressing, at most half full: a search touches one or two slots, which
/// hold the whole key, and then the winner. Filled once; then any number of threads may ask.
class WinnerIndex {
 public:
  /// Of two winners for one problem and launch the first stays.
  void add(BriefWinner&& winner) {
    if (2 * (winners_.size() + 1) > slots_.size()) grow();
    Slot& slot = slots_[place(ProblemKey(winner.problem, winner.launch))];
    if (slot.winner != kNone) return;
    slot = {ProblemKey(winner.problem, winner.launch), static_cast<std::uint32_t>(winners_.size())};
    winners_.push_back(std::move(winner));
  }

  /// Null if there is none.
  [[nodiscard]] const BriefWinner* find(const ProblemKey& key) const {
    if (slots_.empty()) return nullptr;
    const std::uint32_t winner = slots_[place(key)].winner;
    return winner == kNone ? nullptr : &winners_[winner];
  }

  [[nodiscard]] std::size_t size() const { return winners_.size(); }

 private:
  /// Room that costs nothing until it is used, and saves moving all winners several times.
  static constexpr std::size_t kUsualWinners = 16384;
  static constexpr std::size_t kFewestSlots = 2048;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Slot {
    ProblemKey key{Problem{}, Launch::graph};
    std::uint32_t winner = kNone;
  };

  /// Where the key is, or the free slot where it would be.
  [[nodiscard]] std::size_t place(const ProblemKey& key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = ProblemKeyHash{}(key)&mask;
    while (slots_[at].winner != kNone && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    winners_.reserve(kUsualWinners);
    slots_.assign(std::max(kFewestSlots, 4 * slots_.size()), Slot{});
    for (std::uint32_t i = 0; i < winners_.size(); ++i) {
      const ProblemKey key(winners_[i].problem, winners_[i].launch);
      slots_[place(key)] = {key, i};
    }
  }

  std::vector<BriefWinner> winners_;
  std::vector<Slot> slots_;
};

}  // namespace overlaptune
