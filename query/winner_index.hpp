#pragma once
// All winners of one platform, to be found in tens of nanoseconds.

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "db/store.hpp"
#include "query/problem_key.hpp"

namespace overlaptune {

/// Of a winner what an answer tells, in two cache lines; the fields are those of `Config` and
/// `BriefWinner`.
struct IndexedWinner {
  ProblemKey key;
  Strategy strategy;
  Tile tile;
  int raster;
  int comm_ctas;
  int chunks;
  Transport transport;
  Wait wait;
  Microseconds predicted;
  Microseconds measured;
  Microseconds sequential;
  std::array<char, 24> validated_at;
  std::uint32_t first_group;  ///< in the groups of all winners
  std::uint32_t group_count;

  IndexedWinner(const BriefWinner& winner, std::size_t groups_before)
      : key(winner.problem, winner.launch),
        strategy(winner.config.strategy),
        tile(winner.config.tile),
        raster(winner.config.raster),
        comm_ctas(winner.config.comm_ctas),
        chunks(winner.config.chunks),
        transport(winner.config.transport),
        wait(winner.config.wait),
        predicted(winner.predicted),
        measured(winner.measured),
        sequential(winner.sequential),
        validated_at(winner.validated_at),
        first_group(static_cast<std::uint32_t>(groups_before)),
        group_count(static_cast<std::uint32_t>(winner.config.wave_groups.size())) {}
};

static_assert(sizeof(IndexedWinner) <= 128);

/// A hash table with open addressing, at most half full: a search touches one or two slots, and
/// then the winner. Filled once, then indexed; then any number of threads may ask.
class WinnerIndex {
 public:
  WinnerIndex() {
    winners_.reserve(kUsualWinners);
    groups_.reserve(kUsualGroups);
  }

  void add(const BriefWinner& winner) {
    const auto& groups = winner.config.wave_groups;
    winners_.emplace_back(winner, groups_.size());
    groups_.insert(groups_.end(), groups.begin(), groups.end());
  }

  /// Makes all that was added be found. Of two winners for one problem and launch the first stays.
  /// Not while they are added: each slot is far from the last one, and only without other work
  /// between them does the processor wait for many at a time.
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

  /// Null if there is none.
  [[nodiscard]] const IndexedWinner* find(const ProblemKey& key) const {
    if (slots_.empty()) return nullptr;
    const std::uint32_t winner = slots_[place(key)].winner;
    return winner == kNone ? nullptr : &winners_[winner];
  }

  /// Of a winner of this index.
  [[nodiscard]] std::span<const std::int64_t> wave_groups(const IndexedWinner& winner) const {
    return {groups_.data() + winner.first_group, winner.group_count};
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  /// Room that costs nothing until it is used, and saves moving all winners several times.
  static constexpr std::size_t kUsualWinners = 16384;
  static constexpr std::size_t kUsualGroups = 4 * kUsualWinners;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Slot {
    std::uint32_t tag = 0;  ///< bits of the hash that the place does not tell
    std::uint32_t winner = kNone;
  };

  static std::uint32_t tag(const ProblemKey& key) {
    return static_cast<std::uint32_t>(ProblemKeyHash{}(key) >> 32);
  }

  /// Where the key is, or the free slot where it would be.
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
  std::size_t size_ = 0;  ///< winners that are found
};

}  // namespace overlaptune
