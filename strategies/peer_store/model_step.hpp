#pragma once
// The time of a GEMM that stores tiles at the ranks that own them, group by group. All ranks do the
// same at the same time. Times are microseconds.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace overlaptune {

/// A GEMM and the links of one rank.
struct StoreProblem {
  int ranks = 2;
  int sms = 1;
  // The GEMM with nothing to wait for: as `GemmModel::produced`.
  double tile_time = 0;
  double per_launch = 0;
  double spread = 0;
  double sent = 0;      ///< time of the links for one tile, to its owner
  double sum_sent = 0;  ///< time of the links for one sum, to all other ranks; 0: it stays
  double gap = 0;       ///< the links stand still for it behind the sums of a group
  double add_up = 0;    ///< time by which an own tile is longer than another one
  double signal = 0;    ///< from the end of a store until its owner sees the signal
  double receive = 0;   ///< from that signal until an own tile is added up
  double last = 0;      ///< the last own tiles are longer by it: nothing is multiplied meanwhile
  bool waits = false;   ///< an own tile waits for the tiles of the peers, to add them up
  /// Time by which a wave is longer that has only tiles of peers, or only own tiles: it shares no
  /// operands with the others.
  double apart = 0;
  /// Waves of tiles that are multiplied and have not left, where the links are late: two for one
  /// SM, fewer in the mean over SMs that have drifted apart.
  double ahead = 2;
  double held = 1;         ///< as `Staging::held`
  bool own_later = false;  ///< as `StoreOrder::own_later`
  bool ping_pong = false;  ///< an SM multiplies the next tile while an own tile waits
  /// Where groups may end: tiles, ascending. The first is 0, the last all tiles.
  std::vector<std::int64_t> cuts{};

  [[nodiscard]] std::int64_t tiles() const { return cuts.back(); }
  /// End of the first `tiles` tiles, with nothing to wait for.
  [[nodiscard]] double produced(std::int64_t tiles) const;
  /// Time of the links for everything.
  [[nodiscard]] double all_sent() const;
  /// A lower bound on the time of any partition.
  [[nodiscard]] double least_time() const;
};

/// The state between two groups. What follows depends on nothing else but the cuts where the last
/// one lies, and is later, or as late, if one of these is.
struct StoreState {
  double delay = 0;    ///< of the SMs, compared with a GEMM that never waits
  double link = 0;     ///< the links have sent everything so far
  double arrived = 0;  ///< all tiles of peers so far, and their signals, have arrived
};

/// A group lies between the cuts `begin` and `end`; the group before it began at the cut `before`.
struct StoreCuts {
  std::size_t before = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The tiles of the peers of one group, and the own tiles that follow them: of the same group or,
/// with `own_later`, of the group before.
struct StoreStep {
  StoreState state{};         ///< after it
  double computed = 0;        ///< the first tile for a peer is multiplied
  double start = 0;           ///< its first byte leaves
  double others_arrived = 0;  ///< the peers' tiles and their signals have arrived
  double sums_arrived = 0;    ///< the sums of the own tiles have arrived; 0: there are none
  double others_stalled = 0;  ///< the SMs stood still for tiles of the peers, on average
  double own_stalled = 0;     ///< ... and for own tiles
};

/// Tiles of a wave, and all after them, that leave one after the other when the wave ends.
struct Leaving {
  double produced = 0;  ///< end of the wave, with nothing to wait for
  double sent = 0;      ///< time of the links from then on
};

/// Tiles of a group that are sent one after the other: those of the other ranks, or the rank's own
/// sums. All is known but the state before them.
struct Sending {
  double first = 0;  ///< the first one is multiplied, with nothing to wait for
  double all = 0;    ///< time of the links
  /// The tile after these begins, with nothing to wait for, and then so much has not been sent yet.
  double next = 0;
  double in_flight = 0;
  double held_up = 0;  ///< the SMs are later for these tiles
  bool waits = false;  ///< the tile after these may wait for the links
  double freed = 0;  ///< the last tile that it may wait for is multiplied, with nothing to wait for
  double begun = 0;  ///< all tiles before these are, too
  double before = 0;  ///< time of the links for the tiles that have been sent by then; 0: none
  Leaving last{};
  Leaving last_but_one{};  ///< as `last`, if these tiles are of one wave

  Sending() = default;
  Sending(const StoreProblem& problem, std::int64_t begin, std::int64_t end, double sent);
};

/// A step. All is known but the state before it.
struct PreparedStep {
  std::int64_t others = 0;  ///< the end of the tiles of the other ranks
  std::int64_t end = 0;     ///< the end of the rank's own tiles
  bool has_others = false;
  double computed = 0;  ///< the first tile is multiplied, with nothing to wait for
  double apart = 0;     ///< the SMs are later for waves of tiles of one kind
  Sending of_others{};
  Sending sums{};

  PreparedStep(const StoreProblem& problem, const StoreCuts& cuts);
};

[[nodiscard]] StoreState first_state(const StoreProblem& problem);

/// Computes a step.
[[nodiscard]] StoreStep advance(const StoreProblem& problem, const StoreState& from,
                                const PreparedStep& tiles);
[[nodiscard]] StoreStep advance(const StoreProblem& problem, const StoreState& from,
                                const StoreCuts& cuts);

/// Computes the own tiles of the last group, which begins at the cut `begin`, if none were computed
/// with it (`own_later`); else returns `last`.
[[nodiscard]] StoreStep finish(const StoreProblem& problem, const StoreStep& last,
                               std::size_t begin);

/// The end of the kernel, after `finish`.
[[nodiscard]] double end_of(const StoreProblem& problem, const StoreStep& last);

}  // namespace overlaptune
