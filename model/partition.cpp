#include "model/partition.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace overlaptune {
namespace {

/// A state worth keeping, and how it was reached.
struct Node {
  OverlapState state{};
  std::uint32_t cut = 0;
  std::uint32_t parent = 0;
};

/// A lower bound on the end after a state, from which some production and at least some consumption
/// remain. Each side is slowed while both run. Both run together no longer than the shorter of the
/// two takes. The last group follows the producer. The bound is non-decreasing in the state.
class EarliestEnd {
 public:
  EarliestEnd(const OverlapRates& rates, double last_group)
      : rates_(rates),
        idle_(rates.trigger + last_group),
        consumer_speed_(1 / rates.consumer_slowdown),
        gain_(std::max(0.0, 1 / rates.producer_slowdown + consumer_speed_ - 1)) {}

  [[nodiscard]] double operator()(const OverlapState& state, double production,
                                  double consumption) const {
    return (*this)(state, state.consumer_end, production, consumption);
  }

  /// The same if the remaining pieces are not consumed before `from`, which may be later than the
  /// consumer's end.
  [[nodiscard]] double operator()(const OverlapState& state, double from, double production,
                                  double consumption) const {
    const double end = advance(state, production, 0, rates_).ready;  // with no collective after it
    if (from >= end) {
      return std::max(end + idle_, end + (from - end) * consumer_speed_ + consumption);
    }
    const double both =
        std::min((end - from) * rates_.producer_slowdown, consumption * rates_.consumer_slowdown);
    return std::max(end + idle_, end + consumption - both * gain_);
  }

 private:
  OverlapRates rates_;
  double idle_;
  double consumer_speed_;
  double gain_;
};

/// For each cut, the least consumption of what follows it, however it is divided. Gaps are left
/// out: an idle consumer has none, and it does not slow the producer as a busy one would.
std::vector<double> least_rests(const PartitionProblem& problem) {
  const std::size_t cuts = problem.cuts.size();
  std::vector<double> rests(cuts, std::numeric_limits<double>::infinity());
  rests.back() = 0;
  for (std::size_t begin = cuts - 1; begin-- > 0;) {
    for (std::size_t end = begin + 1; end < cuts; ++end) {
      rests[begin] = std::min(rests[begin], problem.group_time(begin, end) + rests[end]);
    }
  }
  return rests;
}

/// The times of the groups that begin at one cut, each computed once.
class GroupsFrom {
 public:
  GroupsFrom(const PartitionProblem& problem, std::size_t begin)
      : problem_(problem), begin_(begin) {}

  /// The time of the group that ends at cut `end`.
  double operator()(std::size_t end) {
    while (begin_ + times_.size() < end) {
      times_.push_back(problem_.group_time(begin_, begin_ + times_.size() + 1));
    }
    return times_[end - begin_ - 1];
  }

 private:
  const PartitionProblem& problem_;
  std::size_t begin_;
  std::vector<double> times_;
};

/// The states at one cut, ascending in `producer`. None of them dominates another.
class Front {
 public:
  /// Returns false if there is a state already that is as good.
  bool add(const Node& node) {
    auto at = std::lower_bound(
        nodes_.begin(), nodes_.end(), node,
        [](const Node& a, const Node& b) { return a.state.producer < b.state.producer; });
    const double consumer_end = node.state.consumer_end;
    if (at != nodes_.begin() && std::prev(at)->state.consumer_end <= consumer_end) return false;
    if (at != nodes_.end() && at->state.producer == node.state.producer &&
        at->state.consumer_end <= consumer_end) {
      return false;
    }
    auto last = at;
    while (last != nodes_.end() && last->state.consumer_end >= consumer_end) ++last;
    at = nodes_.erase(at, last);
    nodes_.insert(at, node);
    return true;
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;
};

double end_of(const PartitionProblem& problem, std::span<const std::size_t> ends) {
  return overlap(problem.start, pieces(problem, ends), problem.rates).groups.back().end.count();
}

/// The best partition into equal groups, with which the search prunes from the beginning.
Partition equal_groups(const PartitionProblem& problem) {
  const std::size_t last = problem.cuts.size() - 1;
  Partition best;
  for (std::size_t groups = 1; groups <= last; groups *= 2) {
    std::vector<std::size_t> ends;
    for (std::size_t i = 1; i <= groups; ++i) ends.push_back(i * last / groups);
    const double time = end_of(problem, ends);
    if (time < best.time) best = {time, std::move(ends)};
  }
  return best;
}

/// The least time of the last group, which holds at least the last cut's bytes. Its copy into place
/// is left out, because it depends on where the group begins.
double least_last_group(const PartitionProblem& problem) {
  const std::size_t last = problem.cuts.size() - 1;
  const Curve& curve = problem.last != nullptr ? *problem.last : *problem.collective;
  const double bytes = problem.cuts[last].bytes - problem.cuts[last - 1].bytes;
  return std::max(curve(bytes) - problem.shared, problem.least_last);
}

/// Solves one problem, for each end of the first group in turn: the production of all later groups
/// depends on that end.
class PartitionSearch {
 public:
  PartitionSearch(const PartitionProblem& problem, double limit)
      : problem_(problem),
        last_(problem.cuts.size() - 1),
        rests_(least_rests(problem)),
        earliest_end_(problem.rates, least_last_group(problem)),
        best_(equal_groups(problem)) {
    if (best_.time >= limit) best_ = {limit, {}};
  }

  [[nodiscard]] Partition solve() {
    const OverlapState initial = initial_state(problem_.start);
    double all = problem_.produced(last_, last_);  // the least over all ends of the first group
    for (std::size_t first = 1; first < last_; ++first) {
      all = std::min(all, problem_.produced(first, last_));
    }
    GroupsFrom group_time(problem_, 0);
    for (std::size_t first = 1; first <= last_; ++first) {
      const double produced = problem_.produced(first, first);
      if (first == last_) {
        close({finish(initial, produced, group_time(first), problem_.rates).state, 0, kNone});
        break;
      }
      const Step step = advance(initial, produced, group_time(first), problem_.rates);
      // The rest is not consumed before this start, which only gets later with a larger first
      // group.
      if (earliest_end_(initial, step.start, all, rests_[0]) >= best_.time) {
        break;
      }
      solve_from(first, step.state);
    }
    return std::move(best_);
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  void solve_from(std::size_t first, const OverlapState& state) {
    const double produced = problem_.produced(first, first);
    const double rest = problem_.produced(first, last_) - produced;
    if (earliest_end_(state, rest, rests_[first]) >= best_.time) return;
    produced_.assign(problem_.cuts.size(), produced);
    for (std::size_t cut = first + 1; cut <= last_; ++cut) {
      produced_[cut] = problem_.produced(first, cut);
    }
    kept_.clear();
    std::vector<Front> fronts(last_);
    fronts[first].add({.state = state, .cut = static_cast<std::uint32_t>(first), .parent = kNone});
    for (std::size_t cut = first; cut < last_; ++cut) {
      GroupsFrom group_time(problem_, cut);
      for (const Node& node : fronts[cut].nodes()) extend(node, group_time, fronts);
      fronts[cut] = {};
    }
  }

  void extend(const Node& node, GroupsFrom& group_time, std::vector<Front>& fronts) {
    const std::size_t cut = node.cut;
    const auto rest_from = [&](const OverlapState& state, double from, std::size_t at) {
      return earliest_end_(state, from, produced_[last_] - produced_[at], rests_[at]);
    };
    if (rest_from(node.state, node.state.consumer_end, cut) >= best_.time) return;
    const auto parent = static_cast<std::uint32_t>(kept_.size());
    kept_.push_back(node);
    close({finish(node.state, produced_[last_] - produced_[cut], problem_.group_time(cut, last_),
                  problem_.rates)
               .state,
           0, parent});
    for (std::size_t end = cut + 1; end < last_; ++end) {
      const Step step =
          advance(node.state, produced_[end] - produced_[cut], group_time(end), problem_.rates);
      if (rest_from(node.state, step.start, cut) >= best_.time) break;
      if (rest_from(step.state, step.state.consumer_end, end) >= best_.time) continue;
      fronts[end].add(
          {.state = step.state, .cut = static_cast<std::uint32_t>(end), .parent = parent});
    }
  }

  /// Keeps the partition whose last group ends at `node`, if it is the best so far.
  void close(const Node& node) {
    if (node.state.consumer_end >= best_.time) return;
    best_.time = node.state.consumer_end;
    best_.ends = {last_};
    for (std::uint32_t at = node.parent; at != kNone; at = kept_[at].parent) {
      best_.ends.push_back(kept_[at].cut);
    }
    std::reverse(best_.ends.begin(), best_.ends.end());
  }

  const PartitionProblem& problem_;
  std::size_t last_;
  std::vector<double> rests_;
  EarliestEnd earliest_end_;
  Partition best_;
  std::vector<double> produced_{};  // by cut, for the current first group
  std::vector<Node> kept_{};        // every state that was extended: `parent` is an index here
};

}  // namespace

std::vector<Piece> pieces(const PartitionProblem& problem, std::span<const std::size_t> ends) {
  std::vector<Piece> list;
  list.reserve(ends.size());
  std::size_t begin = 0;
  double before = 0;
  for (const std::size_t end : ends) {
    const double produced = problem.produced(ends.front(), end);
    list.push_back(
        {.production = produced - before, .consumption = problem.group_time(begin, end)});
    before = produced;
    begin = end;
  }
  return list;
}

double lower_bound(const WholeProblem& problem) {
  const double idle = problem.first + problem.rates.trigger;
  // The consumer is taken to be busy, without slowing the producer, until its first piece can come.
  const OverlapState state{.producer = problem.start - (problem.rates.producer_slowdown - 1) * idle,
                           .consumer_end = problem.start + idle};
  return EarliestEnd(problem.rates, problem.least_time)(
      state, problem.produced, problem.first_more + problem.bytes * problem.least_time_per_byte);
}

Partition best_partition(const PartitionProblem& problem, double limit) {
  return PartitionSearch(problem, limit).solve();
}

}  // namespace overlaptune
