#pragma once
// An index of all winners of one platform, which finds one in tens of nanoseconds.

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "db/store.hpp"
#include "query/problem_key.hpp"

namespace overlaptune {

/// The part of a winner that an answer holds.
struct IndexedWinner {
  ProblemKey key;
  Config config;  ///< without its wave groups, which are in one array for all winners
  Microseconds predicted;
  Microseconds measured;
  Microseconds sequential;
  std::array<char, 24> validated_at;
  std::uint32_t first_group;  ///< index into the groups of all winners
  std::uint32_t group_count;
};

/// The limit keeps a winner within three cache lines.
static_assert(sizeof(IndexedWinner) <= 192);

/// A hash table with open addressing, at most half full: a search touches one or two slots, and
/// then the winner. It is filled once and then indexed; after that any number of threads may search
/// it.
class WinnerIndex {
 public:
  WinnerIndex() {
    winners_.reserve(kUsualWinners);
    groups_.reserve(kUsualGroups);
  }

  /// Adds a copy of a winner. The winner is unchanged afterwards; its wave groups are only taken
  /// out meanwhile, because copying them would allocate memory.
  void add(BriefWinner& winner) {
    std::vector<std::int64_t> groups;
    auto* const own_groups = wave_groups_of(winner.config);
    if (own_groups != nullptr) groups.swap(*own_groups);
    winners_.push_back({.key = ProblemKey(winner.problem, winner.launch),
                        .config = winner.config,
                        .predicted = winner.predicted,
                        .measured = winner.measured,
                        .sequential = winner.sequential,
                        .validated_at = winner.validated_at,
                        .first_group = static_cast<std::uint32_t>(groups_.size()),
                        .group_count = static_cast<std::uint32_t>(groups.size())});
    groups_.insert(groups_.end(), groups.begin(), groups.end());
    if (own_groups != nullptr) own_groups->swap(groups);
  }

  /// Indexes all winners that were added. Of two winners for one problem and launch the first
  /// stays. It is a step of its own because slots are far apart in memory: without other work
  /// between them, the processor waits for many at a time.
  void index() {
    slots_.assign(std::bit_ceil(2 * winners_.size() + 1), Slot{});
    size_ = 0;
    for (std::uint32_t i = 0; i < winners_.size(); ++i) {
      Slot& slot = slots_[place(winners_[i].key)];
      if (slot.winner != kNone) continue;
      slot = {tag(winners_[i].key), i};
      ++size_;
    }
  }

  /// The winner for a key; null if there is none.
  [[nodiscard]] const IndexedWinner* find(const ProblemKey& key) const {
    if (slots_.empty()) return nullptr;
    const std::uint32_t winner = slots_[place(key)].winner;
    return winner == kNone ? nullptr : &winners_[winner];
  }

  /// The wave groups of a winner of this index.
  [[nodiscard]] std::span<const std::int64_t> wave_groups(const IndexedWinner& winner) const {
    return {groups_.data() + winner.first_group, winner.group_count};
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  /// Reserved room. It costs nothing until it is used, and saves moving all winners several times.
  static constexpr std::size_t kUsualWinners = 16384;
  static constexpr std::size_t kUsualGroups = 4 * kUsualWinners;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Slot {
    std::uint32_t tag = 0;  ///< bits of the hash that do not choose the place
    std::uint32_t winner = kNone;
  };

  static std::uint32_t tag(const ProblemKey& key) {
    return static_cast<std::uint32_t>(ProblemKeyHash{}(key) >> 32);
  }

  /// The slot of the key, or the free slot where it would be.
  [[nodiscard]] std::size_t place(const ProblemKey& key) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint32_t wanted = tag(key);
    std::size_t at = ProblemKeyHash{}(key)&mask;
    while (slots_[at].winner != kNone &&
           (slots_[at].tag != wanted || winners_[slots_[at].winner].key != key)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  std::vector<IndexedWinner> winners_;
  std::vector<std::int64_t> groups_;
  std::vector<Slot> slots_;
  std::size_t size_ = 0;  ///< winners that can be found
};

}  // namespace overlaptune
