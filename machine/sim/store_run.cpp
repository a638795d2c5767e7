#include "machine/sim/store_run.hpp"

#include <algorithm>
#include <limits>

namespace overlaptune::sim {
namespace {

// Most tiles of all ranks that are run one by one.
constexpr std::int64_t kMostTilesOfRanks = std::int64_t{1} << 17;

/// The links of one rank to all others, which carry one tile after the other.
class Link {
 public:
  Link(double rate, double free) : rate_(rate), free_(free) {}
  [[nodiscard]] double free() const { return free_; }
  /// Sends bytes that are there from `time` on, and returns when the last of them has left.
  double send(double time, double bytes) {
    free_ = std::max(free_, time) + bytes / rate_;
    return free_;
  }

 private:
  double rate_;
  double free_;
};

/// An SM between two tiles.
struct Sm {
  double next = 0;        ///< it may begin its next tile
  double done = 0;        ///< its last tile has left it
  double stalled = 0;     ///< time for which it stands still before `next`
  std::size_t group = 0;  ///< group of its last tile
};

/// The SMs of one rank; the next tile goes to the one that may begin first.
class Sms {
 public:
  Sms(int count, double start)
      : heap_(static_cast<std::size_t>(count), Sm{.next = start, .done = start}) {}
  [[nodiscard]] Sm take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Sm sm = heap_.back();
    heap_.pop_back();
    return sm;
  }
  void give(const Sm& sm) {
    heap_.push_back(sm);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

 private:
  static bool later(const Sm& a, const Sm& b) { return a.next > b.next; }
  std::vector<Sm> heap_;
};

/// What becomes of a tile once it is multiplied.
struct Left {
  double summed = 0;  ///< its consumers are free
  double done = 0;    ///< it has left the SM
  double added = 0;   ///< part of the time until `summed` in which they worked
};

/// One group on one rank.
struct Group {
  double computed = std::numeric_limits<double>::infinity();  ///< the first tile for a peer
  double start = std::numeric_limits<double>::infinity();     ///< its first byte leaves
  double sent = 0;                                            ///< its last byte has left
  double stalled = 0;  ///< time for which SMs stood still, summed
};

class Rank {
 public:
  Rank(const StorePlan& plan, const StoreVariation& variation, int number)
      : plan_(plan),
        noise_(variation.noise.stream(static_cast<std::uint64_t>(number))),
        factor_(variation.gemm / variation.clock),
        spread_(variation.spread),
        number_(number),
        // The first store waits until all ranks have said that their slots are free again.
        link_(plan.link_rate / variation.link, plan.signal),
        sms_(plan.sms, plan.times.kernel_start * factor_),
        groups_(plan.order.groups.size()),
        sent_to_(static_cast<std::size_t>(plan.order.ranks)) {}

  /// Computes the tiles of the others and sends them.
  void send_shares(std::size_t index) {
    Group& group = groups_[index];
    for (int turn = 1; turn < plan_.order.ranks; ++turn) {
      const int owner = (number_ + turn) % plan_.order.ranks;
      const TileRange share = plan_.order.share(index, owner);
      for (std::int64_t tile = share.begin; tile < share.end; ++tile) {
        // A slot holds a whole tile. C has no room for what lies outside.
        const double bytes =
            plan_.adds_up ? static_cast<double>(slot_bytes(plan_.order)) : bytes_of(tile);
        compute(tile, index, [&](double multiplied) {
          group.computed = std::min(group.computed, multiplied);
          group.start = std::min(group.start, std::max(multiplied, link_.free()));
          return Left{.summed = multiplied, .done = link_.send(multiplied, bytes)};
        });
        sent_to_[static_cast<std::size_t>(owner)] = link_.free();
      }
    }
    group.sent = *std::max_element(sent_to_.begin(), sent_to_.end());
  }

  /// Computes the rank's own tiles. `arrived`: the tiles of the peers are there.
  void compute_own(std::size_t index, double arrived) {
    const TileRange share = plan_.order.share(index, number_);
    const double added = plan_.add_up * factor_;
    for (std::int64_t tile = share.begin; tile < share.end; ++tile) {
      compute(tile, index, [&](double multiplied) {
        if (!plan_.adds_up) return Left{.summed = multiplied, .done = multiplied};
        Left left{.summed = std::max(multiplied, arrived) + added, .added = added};
        left.done = plan_.spreads
                        ? link_.send(left.summed, bytes_of(tile) * (plan_.order.ranks - 1))
                        : left.summed;
        return left;
      });
    }
    if (plan_.spreads) groups_[index].sent = link_.free();
  }

  [[nodiscard]] const Group& group(std::size_t index) const { return groups_[index]; }
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
  /// Gives a tile to an SM. `leave(t)` is asked what becomes of a tile that is multiplied at t.
  template <class Leave>
  void compute(std::int64_t tile, std::size_t group, const Leave& leave) {
    Sm sm = sms_.take();
    groups_[sm.group].stalled += sm.stalled;
    const double time = time_of(tile) * factor_ * (1 + spread_ * noise_.normal(count_++));
    const double multiplied = sm.next + time;
    const Left left = leave(multiplied);
    // Without turns, the consumers of this tile are those of the next one.
    const double released = plan_.in_turn ? multiplied : left.summed;
    const double next = std::max(released, sm.done);
    const double worked = multiplied + (plan_.in_turn ? 0 : left.added);
    sms_.give(
        {.next = next, .done = left.done, .stalled = std::max(0.0, next - worked), .group = group});
    multiplied_ = std::max(multiplied_, multiplied);
    done_ = std::max(done_, left.done);
  }

  [[nodiscard]] std::int64_t height(std::int64_t swizzle) const {
    const TileOrder& part = plan_.order.part;
    return std::min<std::int64_t>(part.raster, part.panels_per_block() - swizzle * part.raster);
  }
  /// Whether a tile lies at the right edge, and at the bottom.
  struct Edges {
    bool right = false;
    bool bottom = false;
  };
  [[nodiscard]] Edges edges(std::int64_t tile) const {
    const TileOrder& part = plan_.order.part;
    const std::int64_t of_swizzle = part.columns() * part.raster;
    const std::int64_t swizzle = tile / of_swizzle;
    const std::int64_t rest = tile % of_swizzle;
    const std::int64_t tall = height(swizzle);
    return {.right = rest / tall + 1 == part.columns(),
            .bottom = swizzle * part.raster + rest % tall + 1 == part.panels_per_block()};
  }
  [[nodiscard]] double time_of(std::int64_t tile) const {
    const auto [right, bottom] = edges(tile);
    const TileTimes& times = plan_.times;
    if (right) return bottom ? times.corner : times.right;
    return bottom ? times.bottom : times.whole;
  }
  [[nodiscard]] double bytes_of(std::int64_t tile) const {
    const TileOrder& part = plan_.order.part;
    const auto [right, bottom] = edges(tile);
    const std::int64_t rows =
        bottom ? part.block_rows - (part.panels_per_block() - 1) * part.block_m : part.block_m;
    const std::int64_t columns =
        right ? part.n - (part.columns() - 1) * part.block_n : part.block_n;
    return static_cast<double>(rows * columns * part.element_bytes);
  }

  const StorePlan& plan_;
  Noise noise_;
  double factor_;
  double spread_;
  int number_;
  Link link_;
  Sms sms_;
  std::vector<Group> groups_;
  std::vector<double> sent_to_;  ///< by owner
  std::uint64_t count_ = 0;
  double multiplied_ = 0;
  double done_ = 0;
};

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
    for (std::size_t group = 0; group < plan_.order.groups.size(); ++group) {
      for (Rank& rank : ranks_) rank.send_shares(group);
      std::vector<double> arrivals;
      for (std::size_t r = 0; r < ranks_.size(); ++r) arrivals.push_back(arrival(r));
      for (std::size_t r = 0; r < ranks_.size(); ++r) ranks_[r].compute_own(group, arrivals[r]);
    }
  }

  /// A rank ends when its tiles have left it, and all that others send to it is there.
  [[nodiscard]] std::vector<double> ends() const {
    std::vector<double> ends;
    for (int r = 0; r < plan_.order.ranks; ++r) {
      const std::size_t rank = static_cast<std::size_t>(r) % ranks_.size();
      double end = ranks_[rank].done();
      if (plan_.spreads) {
        for (const Rank& peer : ranks_) end = std::max(end, peer.sent() + plan_.signal);
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
    for (const Rank& rank : ranks_) multiplied = std::max(multiplied, rank.multiplied());
    timeline.gemm_end = us(multiplied);
    const std::size_t groups = plan_.order.groups.size();
    for (std::size_t index = 0; index < groups; ++index) {
      Group all = ranks_.front().group(index);
      double stalled = 0;
      for (const Rank& rank : ranks_) {
        const Group& own = rank.group(index);
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
  std::vector<Rank> ranks_{};
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
