#include "model/partition.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace overlaptune {
namespace {

/// A state worth keeping, and how it was reached.
struct Node {
  OverlapState state{};
  double handicap = 0;
  std::uint32_t cut = 0;
  std::uint32_t parent = 0;
};

/// The least that remains to be consumed: the sum of the groups' times, and the same with the gaps
/// between them. The two need not be of the same partition.
struct Rest {
  double consumption = 0;
  double in_a_row = 0;
};

/// A lower bound on the end after a state, given what remains. For some time both queues run. The
/// longer that is, the later the producer ends, and the less remains to be consumed then. The bound
/// is the least, over all such times, of what comes last:
/// - after the producer's end a trigger and the last group;
/// - after the producer's end all that was not consumed before it;
/// - all groups in a row, slowed for that time.
/// It is non-decreasing in the state.
class EarliestEnd {
 public:
  EarliestEnd(const OverlapRates& rates, double last_group)
      : producer_slowdown_(rates.producer_slowdown),
        consumer_slowdown_(rates.consumer_slowdown),
        producer_loss_(1 - 1 / rates.producer_slowdown),
        consumer_loss_(1 - 1 / rates.consumer_slowdown),
        gain_(std::max(0.0, 1 - producer_loss_ - consumer_loss_)),
        after_producer_(rates.trigger + last_group) {}

  /// The consumer does not go on before `from`.
  [[nodiscard]] double operator()(const OverlapState& state, double from, const Rest& rest) const {
    const double alone = state.producer_end;
    const double in_turn = std::max(alone, from) + rest.consumption;
    const double longest = std::min(std::max(0.0, alone - from) * producer_slowdown_,
                                    rest.consumption * consumer_slowdown_);
    // An end that grows with the time of both meets the one that falls with it: growth and fall
    // together are 1 / slowdown of the other side.
    const auto least = [&](double end, double growth, double per_growth) {
      const double both = std::clamp((in_turn - end) * per_growth, 0.0, longest);
      return std::max(end + growth * both, in_turn - gain_ * both);
    };
    if (gain_ == 0) return std::max({alone + after_producer_, from + rest.in_a_row, in_turn});
    return std::max(least(alone + after_producer_, producer_loss_, consumer_slowdown_),
                    least(from + rest.in_a_row, consumer_loss_, producer_slowdown_));
  }

 private:
  double producer_slowdown_;
  double consumer_slowdown_;
  double producer_loss_;  ///< what the producer loses in a unit of time beside the consumer
  double consumer_loss_;  ///< the same of the consumer
  double gain_;           ///< what both do in a unit of time, beyond what one does alone
  double after_producer_;
};

/// The times of all groups.
class GroupTable {
 public:
  explicit GroupTable(const PartitionProblem& problem) : cuts_(problem.cuts.size()) {
    times_.resize(cuts_ * cuts_);
    for (std::size_t begin = 0; begin + 1 < cuts_; ++begin) {
      for (std::size_t end = begin + 1; end < cuts_; ++end) {
        times_[begin * cuts_ + end] = problem.group_time(begin, end);
      }
    }
  }
  /// The times of the groups that begin at a cut, by the cut that ends them.
  [[nodiscard]] const double* from(std::size_t begin) const { return &times_[begin * cuts_]; }

 private:
  std::size_t cuts_;
  std::vector<double> times_;
};

/// For each cut, the least that remains after it.
std::vector<Rest> least_rests(const PartitionProblem& problem, const GroupTable& groups) {
  const std::size_t last = problem.cuts.size() - 1;
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<Rest> rests(last + 1, {kNone, kNone});
  rests[last] = {0, -problem.rates.gap};  // no gap follows the last group
  for (std::size_t begin = last; begin-- > 0;) {
    Rest& rest = rests[begin];
    for (std::size_t end = begin + 1; end <= last; ++end) {
      const double time = groups.from(begin)[end];
      rest.consumption = std::min(rest.consumption, time + rests[end].consumption);
      rest.in_a_row = std::min(rest.in_a_row, time + problem.rates.gap + rests[end].in_a_row);
    }
  }
  return rests;
}

/// The states at one cut, ascending in their handicap. None of them is ahead of another.
class Front {
 public:
  /// Adds a node, unless one is ahead of it. Removes those that it is ahead of.
  void add(const Node& node) {
    auto at =
        std::lower_bound(nodes_.begin(), nodes_.end(), node,
                         [](const Node& a, const Node& b) { return a.handicap < b.handicap; });
    const double end = node.state.consumer_end;
    if (at != nodes_.begin() && std::prev(at)->state.consumer_end <= end) return;
    if (at != nodes_.end() && at->handicap == node.handicap && at->state.consumer_end <= end) {
      return;
    }
    auto last = at;
    while (last != nodes_.end() && last->state.consumer_end >= end) ++last;
    at = nodes_.erase(at, last);
    nodes_.insert(at, node);
  }

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  void clear() { nodes_.clear(); }

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

/// The least production of everything, over all ends of the first group.
double least_produced(const PartitionProblem& problem) {
  const std::size_t last = problem.cuts.size() - 1;
  double least = problem.produced(last, last);
  for (std::size_t first = 1; first < last; ++first) {
    least = std::min(least, problem.produced(first, last));
  }
  return least;
}

/// Solves one problem, for each end of the first group in turn: the production of all later groups
/// depends on that end.
class PartitionSearch {
 public:
  /// `least_produced`: the least production of everything.
  PartitionSearch(const PartitionProblem& problem, double least_produced, double limit)
      : problem_(problem),
        least_produced_(least_produced),
        last_(problem.cuts.size() - 1),
        handicap_(problem.rates),
        groups_(problem),
        rests_(least_rests(problem, groups_)),
        earliest_end_(problem.rates, least_last_group(problem)),
        best_(equal_groups(problem)) {
    if (best_.time >= limit) best_ = {limit, {}};
  }

  [[nodiscard]] Partition solve() {
    const double* group_time = groups_.from(0);
    for (std::size_t first = 1; first <= last_; ++first) {
      const double all = problem_.produced(first, last_);
      const double after = all - problem_.produced(first, first);
      const Step step =
          advance(initial_state(problem_.start, all), after, group_time[first], problem_.rates);
      if (first == last_) {
        close(step.state, kNone);
        break;
      }
      // The rest is not consumed before this start, which only gets later with a larger first
      // group.
      const OverlapState initial = initial_state(problem_.start, least_produced_);
      if (earliest_end_(initial, step.start, rests_[0]) >= best_.time) break;
      solve_from(first, step.state);
    }
    return std::move(best_);
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] Node node(const OverlapState& state, std::size_t cut, std::uint32_t parent) const {
    return {.state = state,
            .handicap = handicap_(state),
            .cut = static_cast<std::uint32_t>(cut),
            .parent = parent};
  }

  /// A lower bound on the end of any partition with this state at this cut, which is not the last.
  [[nodiscard]] double bound(const OverlapState& state, std::size_t cut) const {
    return earliest_end_(state, state.consumer_end + problem_.rates.gap, rests_[cut]);
  }

  void solve_from(std::size_t first, const OverlapState& state) {
    if (bound(state, first) >= best_.time) return;
    const double all = problem_.produced(first, last_);
    after_.assign(problem_.cuts.size(), 0);
    for (std::size_t cut = first + 1; cut < last_; ++cut) {
      after_[cut] = all - problem_.produced(first, cut);
    }
    kept_.clear();
    fronts_.resize(last_);
    fronts_[first].add(node(state, first, kNone));
    for (std::size_t cut = first; cut < last_; ++cut) {
      for (const Node& node : fronts_[cut].nodes()) extend(node);
      fronts_[cut].clear();
    }
  }

  /// Appends one more group to a node, in every possible way.
  void extend(const Node& from) {
    if (bound(from.state, from.cut) >= best_.time) return;
    const auto parent = static_cast<std::uint32_t>(kept_.size());
    kept_.push_back(from);
    const OverlapRates rates = problem_.rates;
    const double* group_time = groups_.from(from.cut);
    close(advance(from.state, 0, group_time[last_], rates).state, parent);
    for (std::size_t end = from.cut + 1; end < last_; ++end) {
      const Step step = advance(from.state, after_[end], group_time[end], rates);
      if (bound(step.state, end) < best_.time) {
        fronts_[end].add(node(step.state, end, parent));
      } else if (earliest_end_(from.state, step.start, rests_[from.cut]) >= best_.time) {
        break;  // a larger group only starts later
      }
    }
  }

  /// Keeps the partition whose last group ends at `state`, if it is the best so far.
  void close(const OverlapState& state, std::uint32_t parent) {
    if (state.consumer_end >= best_.time) return;
    best_.time = state.consumer_end;
    best_.ends = {last_};
    for (std::uint32_t at = parent; at != kNone; at = kept_[at].parent) {
      best_.ends.push_back(kept_[at].cut);
    }
    std::reverse(best_.ends.begin(), best_.ends.end());
  }

  const PartitionProblem& problem_;
  double least_produced_;
  std::size_t last_;
  Handicap handicap_;
  GroupTable groups_;
  std::vector<Rest> rests_;
  EarliestEnd earliest_end_;
  Partition best_;
  std::vector<double> after_{};  // production after each cut, for the current first group
  std::vector<Front> fronts_{};  // by cut
  std::vector<Node> kept_{};     // every state that was extended: `parent` is an index here
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
  return EarliestEnd(problem.rates, problem.least.one)(
      initial_state(problem.start, problem.produced),
      problem.start + problem.first + problem.rates.trigger,
      {problem.first_more + problem.least.all, problem.first_more + problem.least.in_a_row});
}

namespace {

/// What is known of the problem without a look at all groups.
WholeProblem whole(const PartitionProblem& problem) {
  const std::size_t last = problem.cuts.size() - 1;
  const double bytes = problem.cuts[last].bytes;
  const auto least = [&](double less) {
    const double per_byte = problem.collective->least_time_per_byte(bytes, less);
    return bytes * (problem.last == nullptr
                        ? per_byte
                        : std::min(per_byte, problem.last->least_time_per_byte(bytes, less)));
  };
  return {.start = problem.start,
          .first = problem.produced(1, 1),
          .produced = least_produced(problem),
          .least = {.one = least_last_group(problem),
                    .all = least(problem.shared),
                    .in_a_row = least(problem.shared - problem.rates.gap) - problem.rates.gap},
          .first_more = problem.first_more,
          .rates = problem.rates};
}

}  // namespace

Partition best_partition(const PartitionProblem& problem, double limit) {
  const WholeProblem known = whole(problem);
  if (lower_bound(known) >= limit) return {.time = limit};
  return PartitionSearch(problem, known.produced, limit).solve();
}

}  // namespace overlaptune
