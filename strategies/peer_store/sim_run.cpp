#include "strategies/peer_store/sim_run.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace overlaptune::sim {
namespace {

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

/// Times of a tile after it is multiplied.
struct Left {
  double free = 0;   ///< its consumers are free
  double done = 0;   ///< it has left the SM
  double added = 0;  ///< part of the time until `free` in which they worked
};

/// Whether a tile lies at the right edge, and at the bottom.
struct Edges {
  bool right = false;
  bool bottom = false;
};

Edges edges_of(const TileOrder& part, std::int64_t tile) {
  const std::int64_t of_swizzle = part.columns() * part.swizzle;
  const std::int64_t first_panel = tile / of_swizzle * part.swizzle;
  const std::int64_t rest = tile % of_swizzle;
  const std::int64_t tall =
      std::min<std::int64_t>(part.swizzle, part.panels_per_block() - first_panel);
  return {.right = rest / tall + 1 == part.columns(),
          .bottom = first_panel + rest % tall + 1 == part.panels_per_block()};
}

/// A rank whose GEMM stores its tiles at the ranks that own them, tile by tile. The consumer of a
/// tile is free when the tile has left it but for what is held in buffers. Where consumers take
/// turns, the SM then multiplies a tile of the other one.
class StoreRank {
 public:
  StoreRank(const StorePlan& plan, const StoreVariation& variation, int number)
      : plan_(plan),
        noise_(variation.noise.stream(static_cast<std::uint64_t>(number))),
        factor_(variation.gemm / variation.clock),
        spread_(variation.spread),
        number_(number),
        // The first store waits until all ranks have said that their slots are free again.
        link_(plan.link_rate / variation.link, plan.signal),
        sms_(static_cast<std::size_t>(plan.sms), Sm{.next = plan.times.kernel_start * factor_}),
        groups_(plan.order.groups.size()),
        sent_to_(static_cast<std::size_t>(plan.order.ranks)) {}

  /// Computes the tiles of the others in a group and sends them. Groups come in their order.
  void send_shares(std::size_t index) {
    StoredGroup& group = groups_[index];
    for (int turn = 1; turn < plan_.order.ranks; ++turn) {
      const int owner = (number_ + turn) % plan_.order.ranks;
      const TileRange share = plan_.order.share(index, owner);
      double& last_sent = sent_to_[static_cast<std::size_t>(owner)];
      for (std::int64_t tile = share.begin; tile < share.end; ++tile) {
        // A slot holds a whole tile. C has no room for what lies outside.
        const double bytes =
            plan_.adds_up ? static_cast<double>(slot_bytes(plan_.order)) : bytes_of(tile);
        compute(tile, index, [&](double multiplied, double emptied) {
          group.computed = std::min(group.computed, multiplied);
          group.start = std::min(group.start, std::max(multiplied, link_.free()));
          const Sent sent = send(multiplied, emptied, bytes);
          last_sent = std::max(last_sent, sent.done);
          return Left{.free = sent.free, .done = sent.done};
        });
      }
    }
    group.sent = *std::max_element(sent_to_.begin(), sent_to_.end());
  }

  /// Computes the rank's own tiles of the group. `arrived`: the tiles of the peers are there.
  void compute_own(std::size_t index, double arrived) {
    const TileRange share = plan_.order.share(index, number_);
    const double added = plan_.add_up * factor_;
    for (std::int64_t tile = share.begin; tile < share.end; ++tile) {
      compute(tile, index, [&](double multiplied, double emptied) {
        if (!plan_.adds_up) return Left{.free = multiplied, .done = multiplied};
        const double summed = std::max(multiplied, arrived + plan_.receive) + added;
        if (!plan_.spreads) return Left{.free = summed, .done = summed, .added = added};
        const Sent sent = send(summed, emptied, bytes_of(tile) * (plan_.order.ranks - 1));
        groups_[index].sent = std::max(groups_[index].sent, sent.done);
        return Left{.free = sent.free, .done = sent.done, .added = added};
      });
    }
    if (plan_.spreads) link_.stand_still(plan_.sum_gap);
  }

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
  struct Sent {
    double free = 0;
    double done = 0;
  };
  /// Sends a tile that is there from `time` on, and whose consumer's buffers are empty from
  /// `emptied` on. Returns when the consumer is free, and when all of the tile has left.
  Sent send(double time, double emptied, double bytes) {
    const double held = plan_.held * bytes;
    const double free = held < bytes ? link_.send(time, bytes - held) : time;
    const double done = held > 0 ? link_.send(time, held) : free;
    return {.free = std::max(free, emptied), .done = done};
  }

  /// Gives a tile to an SM. `leave(t, e)` is asked what becomes of a tile that is multiplied at t,
  /// and whose consumer's buffers are empty at e.
  template <class Leave>
  void compute(std::int64_t tile, std::size_t group, const Leave& leave) {
    Sm& sm = sms_[count_ % sms_.size()];
    groups_[sm.group].stalled += sm.stalled;
    const double time = time_of(tile, group) * factor_ * (1 + spread_ * noise_.normal(count_++));
    const double multiplied = sm.next + time;
    // The consumer's tile before was handed over to the buffers.
    const Left left = leave(multiplied, plan_.ping_pong ? sm.before : sm.done);
    // Without turns, the consumers of this tile are those of the next one.
    const double next = plan_.ping_pong ? std::max(multiplied, sm.free) : left.free;
    const double worked = multiplied + (plan_.ping_pong ? 0 : left.added);
    sm = {.next = next,
          .free = left.free,
          .done = left.done,
          .before = sm.done,
          .stalled = std::max(0.0, next - worked),
          .group = group};
    multiplied_ = std::max(multiplied_, multiplied);
    done_ = std::max(done_, left.done);
  }

  [[nodiscard]] double time_of(std::int64_t tile, std::size_t group) const {
    const auto [right, bottom] = edges_of(plan_.order.part, tile);
    const TileTimes& times = plan_.times;
    const double time =
        right ? (bottom ? times.corner : times.right) : (bottom ? times.bottom : times.whole);
    const std::int64_t owners = plan_.order.owns_blocks ? plan_.order.ranks : 1;
    const std::int64_t tiles = plan_.order.groups[group].tiles.count() * owners;
    const double beyond_a_wave = std::max(0.0, 1 - plan_.sms / static_cast<double>(tiles));
    return time * (1 + plan_.apart * beyond_a_wave);
  }

  [[nodiscard]] double bytes_of(std::int64_t tile) const {
    const TileOrder& part = plan_.order.part;
    const auto [right, bottom] = edges_of(part, tile);
    const std::int64_t rows =
        bottom ? part.block_rows - (part.panels_per_block() - 1) * part.block_m : part.block_m;
    const std::int64_t columns =
        right ? part.n - (part.columns() - 1) * part.block_n : part.block_n;
    return static_cast<double>(rows * columns * result_bytes(part.elements));
  }

  const StorePlan& plan_;
  Noise noise_;
  double factor_;  ///< on the time of tiles
  double spread_;
  int number_;
  Link link_;
  std::vector<Sm> sms_;  ///< they take tiles in turn
  std::vector<StoredGroup> groups_;
  std::vector<double> sent_to_;  ///< by owner
  std::uint64_t count_ = 0;      ///< tiles so far
  double multiplied_ = 0;
  double done_ = 0;
};

// Most tiles of all ranks that are run one by one.
constexpr std::int64_t kMostTilesOfRanks = std::int64_t{1} << 17;

/// All ranks, or one that stands for all: what it sends is as late as what it receives.
class Ranks {
 public:
  Ranks(const StorePlan& plan, const StoreVariation& variation) : plan_(plan) {
    const bool one = plan.order.tiles() * plan.order.ranks > kMostTilesOfRanks;
    for (int rank = 0; rank < (one ? 1 : plan.order.ranks); ++rank) {
      ranks_.emplace_back(plan, variation, rank);
    }
  }

  void run() {
    const std::size_t groups = plan_.order.groups.size();
    const std::size_t later = plan_.order.own_later ? 1 : 0;
    std::vector<std::vector<double>> arrivals;  // of each group, at each rank
    for (std::size_t step = 0; step < groups + later; ++step) {
      if (step < groups) {
        for (StoreRank& rank : ranks_) rank.send_shares(step);
        std::vector<double>& all = arrivals.emplace_back();
        for (std::size_t r = 0; r < ranks_.size(); ++r) all.push_back(arrival(r));
      }
      if (step < later) continue;
      const std::size_t group = step - later;
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        ranks_[r].compute_own(group, arrivals[group][r]);
      }
    }
  }

  /// A rank ends when its tiles have left it, and all that others send to it is there.
  [[nodiscard]] std::vector<double> ends() const {
    std::vector<double> ends;
    for (int r = 0; r < plan_.order.ranks; ++r) {
      const std::size_t rank = static_cast<std::size_t>(r) % ranks_.size();
      double end = ranks_[rank].done();
      if (plan_.spreads) {
        for (const StoreRank& peer : ranks_) end = std::max(end, peer.sent() + plan_.signal);
      } else if (!plan_.adds_up) {
        end = std::max(end, arrival(rank));
      }
      ends.push_back(end);
    }
    return ends;
  }

  /// Groups from the first byte of any rank to the last signal.
  [[nodiscard]] Timeline timeline(double end) const {
    Timeline timeline;
    double multiplied = 0;
    for (const StoreRank& rank : ranks_) multiplied = std::max(multiplied, rank.multiplied());
    timeline.gemm_end = us(multiplied);
    const std::size_t groups = plan_.order.groups.size();
    for (std::size_t index = 0; index < groups; ++index) {
      StoredGroup all = ranks_.front().group(index);
      double stalled = 0;
      for (const StoreRank& rank : ranks_) {
        const StoredGroup& own = rank.group(index);
        all.computed = std::min(all.computed, own.computed);
        all.start = std::min(all.start, own.start);
        all.sent = std::max(all.sent, own.sent);
        stalled += own.stalled / plan_.sms / static_cast<double>(ranks_.size());
      }
      const double arrived = all.sent + plan_.signal;
      if (index + 1 == groups) stalled += std::max(0.0, end - multiplied);
      timeline.groups.push_back({.group = static_cast<int>(index),
                                 .ready = us(all.computed),
                                 .start = us(all.start),
                                 .end = us(arrived),
                                 .exposed = us(std::min(stalled, arrived - all.start))});
    }
    return timeline;
  }

 private:
  /// All tiles that were sent to a rank are there.
  [[nodiscard]] double arrival(std::size_t rank) const {
    double sent = 0;
    for (std::size_t peer = 0; peer < ranks_.size(); ++peer) {
      for (int owner = 0; owner < plan_.order.ranks; ++owner) {
        const bool is_its = ranks_.size() == 1 || static_cast<std::size_t>(owner) == rank;
        if (is_its) sent = std::max(sent, ranks_[peer].sent_to(owner));
      }
    }
    return sent + plan_.signal;
  }

  const StorePlan& plan_;
  std::vector<StoreRank> ranks_{};
};

}  // namespace

StoreRun run_stores(const StorePlan& plan, const StoreVariation& variation) {
  Ranks ranks(plan, variation);
  ranks.run();
  StoreRun run{.rank_ends = ranks.ends()};
  run.timeline = ranks.timeline(*std::max_element(run.rank_ends.begin(), run.rank_ends.end()));
  return run;
}

}  // namespace overlaptune::sim
