#pragma once
// All winners of one platform, to be found in tens of nanoseconds.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "db/store.hpp"
#include "query/problem_key.hpp"

namespace overlaptune {

/// Of a winner what an answer tells, in two cache lines; the fields are those of `Config` and
/// `BriefWinner`.
struct IndexedWinner {
  ProblemKey key{Problem{}, Launch::graph};
  Strategy strategy{};
  Tile tile{};
  int raster = 0;
  int comm_ctas = 0;
  int chunks = 1;
  Transport transport{};
  Microseconds predicted{};
  Microseconds measured{};
  Microseconds sequential{};
  std::array<char, 24> validated_at{};
  std::uint32_t first_group = 0;  ///< in the groups of all winners
  std::uint32_t group_count = 0;
};

static_assert(sizeof(IndexedWinner) <= 128);

/// A hash table with open addressing, at most half full: a search touches one or two slots, and
/// then the winner. Filled once; then any number of threads may ask.
class WinnerIndex {
 public:
  /// Of two winners for one problem and launch the first stays.
  void add(const BriefWinner& winner) {
    if (2 * (winners_.size() + 1) > slots_.size()) grow();
    const ProblemKey key(winner.problem, winner.launch);
    Slot& slot = slots_[place(key)];
    if (slot.winner != kNone) return;
    slot = {tag(key), static_cast<std::uint32_t>(winners_.size())};
    const Config& config = winner.config;
    IndexedWinner& kept = winners_.emplace_back();
    kept.key = key;
    kept.strategy = config.strategy;
    kept.tile = config.tile;
    kept.raster = config.raster;
    kept.comm_ctas = config.comm_ctas;
    kept.chunks = config.chunks;
    kept.transport = config.transport;
    kept.predicted = winner.predicted;
    kept.measured = winner.measured;
    kept.sequential = winner.sequential;
    kept.validated_at = winner.validated_at;
    kept.first_group = static_cast<std::uint32_t>(groups_.size());
    kept.group_count = static_cast<std::uint32_t>(config.wave_groups.size());
    groups_.insert(groups_.end(), config.wave_groups.begin(), config.wave_groups.end());
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

  [[nodiscard]] std::size_t size() const { return winners_.size(); }

 private:
  /// Room that costs nothing until it is used, and saves moving all winners several times.
  static constexpr std::size_t kUsualWinners = 16384;
  static constexpr std::size_t kFewestSlots = 2 * kUsualWinners;
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

  void grow() {
    winners_.reserve(kUsualWinners);
    slots_.assign(std::max(kFewestSlots, 4 * slots_.size()), Slot{});
    for (std::uint32_t i = 0; i < winners_.size(); ++i) {
      slots_[place(winners_[i].key)] = {tag(winners_[i].key), i};
    }
  }

  std::vector<IndexedWinner> winners_;
  std::vector<std::int64_t> groups_;
  std::vector<Slot> slots_;
};

}  // namespace overlaptune
