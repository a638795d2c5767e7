#include "strategies/peer_store/sim_run.hpp"

#include <algorithm>

namespace overlaptune::sim {
namespace {

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

  /// A rank ends when its tiles have left it, and all that others send to it is there. Sums are
  /// fetched: when the last ones are signalled, to copy them into C takes as long as a signal.
  [[nodiscard]] std::vector<double> ends() const {
    std::vector<double> ends;
    for (int r = 0; r < plan_.order.ranks; ++r) {
      const std::size_t rank = static_cast<std::size_t>(r) % ranks_.size();
      double end = ranks_[rank].done();
      if (plan_.spreads) {
        for (const StoreRank& peer : ranks_) end = std::max(end, peer.sent() + 2 * plan_.signal);
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
