#pragma once
// One rank whose GEMM stores its tiles at the ranks that own them (`peer_store`), tile by tile.
// Times are microseconds from the start of the kernel.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "machine/simulator/noise.hpp"
#include "machine/simulator/tile_physics.hpp"
#include "strategies/peer_store/store_order.hpp"

namespace overlaptune::sim {

/// The tiles, and what moves them.
struct StorePlan {
  StoreOrder order{};
  TileTimes times{};  ///< of a tile, with all that slows it
  int sms = 0;
  bool adds_up = false;  ///< a rank's own tile waits for the peers' tiles, and adds them to itself
  bool spreads = false;  ///< the sum goes to all ranks
  bool ping_pong = false;  ///< an SM multiplies the next tile while its own tile waits
  /// Share by which a tile takes longer where the tiles that run at once are all of peers, or all
  /// own ones: they share no columns of B with the others.
  double apart = 0;
  double held = 1;       ///< share of a tile that may leave after its consumer is free again
  double link_rate = 0;  ///< bytes that a rank sends per microsecond, and as many that it receives
  double signal = 0;     ///< time from the end of a store until its owner sees the signal
  double receive = 0;    ///< time from that signal until an own tile may be added up
  double sum_gap = 0;    ///< the links stand still for it behind the sums of a group
  double add_up = 0;     ///< time by which reading and adding the peers' tiles lengthens a tile
};

/// Factors and noise that differ from one repetition to the next.
struct StoreVariation {
  double clock = 1;
  double gemm = 1;    ///< factor on the time of tiles
  double link = 1;    ///< factor on the time of bytes
  double spread = 0;  ///< standard deviation of a tile's time, relative
  Noise noise;
};

/// One group on one rank.
struct StoredGroup {
  double computed = std::numeric_limits<double>::infinity();  ///< the first tile for a peer
  double start = std::numeric_limits<double>::infinity();     ///< its first byte leaves
  double sent = 0;                                            ///< its last byte has left
  double stalled = 0;  ///< time for which SMs stood still, summed
};

/// The links of one rank to all others. Many SMs store at once, so bytes that are there go ahead of
/// bytes that come later, whichever tile is the first in the order.
class Link {
 public:
  Link(double rate, double free) : rate_(rate), free_(free) {}
  /// All that was sent so far has left.
  [[nodiscard]] double free() const { return free_; }
  /// Sends bytes that are there from `time` on, and returns when the last of them has left.
  double send(double time, double bytes) {
    double left = bytes / rate_;
    // The links stood still before the last bytes that came late. These may go there.
    const double from = std::max(gap_begin_, time);
    const double ahead = std::clamp(gap_end_ - from, 0.0, left);
    if (ahead > 0) gap_begin_ = from + ahead;
    left -= ahead;
    if (left <= 0) return gap_begin_;
    if (time > free_) {
      gap_begin_ = free_;
      gap_end_ = free_ = time;
    }
    free_ += left;
    return free_;
  }
  void stand_still(double time) { free_ += time; }

 private:
  double rate_;
  double free_;
  double gap_begin_ = 0;
  double gap_end_ = 0;
};

/// An SM between two tiles.
struct Sm {
  double next = 0;        ///< it may begin its next tile
  double free = 0;        ///< the consumer of its last tile is free
  double done = 0;        ///< its last tile has left it
  double before = 0;      ///< so has the one before
  double stalled = 0;     ///< time for which it stands still before `next`
  std::size_t group = 0;  ///< group of its last tile
};

/// The SMs of one rank, which take tiles in turn.
class Sms {
 public:
  Sms(int count, double start) : all_(static_cast<std::size_t>(count), Sm{.next = start}) {}
  /// The SM of the next tile.
  [[nodiscard]] Sm& take() {
    Sm& sm = all_[turn_];
    turn_ = turn_ + 1 < all_.size() ? turn_ + 1 : 0;
    return sm;
  }

 private:
  std::vector<Sm> all_;
  std::size_t turn_ = 0;
};

/// The consumer of a tile is free when the tile has left it but for what is held in buffers. Where
/// consumers take turns, the SM then multiplies a tile of the other one.
class StoreRank {
 public:
  StoreRank(const StorePlan& plan, const StoreVariation& variation, int number);

  /// Computes the tiles of the others in a group and sends them. Groups come in their order.
  void send_shares(std::size_t index);

  /// Computes the rank's own tiles of the group. `arrived`: the tiles of the peers are there.
  void compute_own(std::size_t index, double arrived);

  [[nodiscard]] const StoredGroup& group(std::size_t index) const { return groups_[index]; }
  /// The last tile that was sent to a rank has left.
  [[nodiscard]] double sent_to(int owner) const {
    return sent_to_[static_cast<std::size_t>(owner)];
  }
  /// All that was sent to any rank has left.
  [[nodiscard]] double sent() const { return link_.free(); }
  /// All tiles are multiplied.
  [[nodiscard]] double multiplied() const { return multiplied_; }
  /// All tiles have left the SMs.
  [[nodiscard]] double done() const { return done_; }

 private:
  /// Sends a tile that is there from `time` on, and whose consumer's buffers are empty from
  /// `emptied` on. Returns when the consumer is free, and when all of the tile has left.
  struct Sent {
    double free = 0;
    double done = 0;
  };
  Sent send(double time, double emptied, double bytes);
  template <class Leave>
  void compute(std::int64_t tile, std::size_t group, const Leave& leave);
  [[nodiscard]] double time_of(std::int64_t tile, std::size_t group) const;
  [[nodiscard]] double bytes_of(std::int64_t tile) const;

  const StorePlan& plan_;
  Noise noise_;
  double factor_;  ///< on the time of tiles
  double spread_;
  int number_;
  Link link_;
  Sms sms_;
  std::vector<StoredGroup> groups_;
  std::vector<double> sent_to_;  ///< by owner
  std::uint64_t count_ = 0;      ///< tiles so far
  double multiplied_ = 0;
  double done_ = 0;
};

}  // namespace overlaptune::sim
