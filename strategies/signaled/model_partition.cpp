#include "strategies/signaled/model_partition.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "strategies/signaled/model_partition_bound.hpp"

namespace overlaptune {
namespace {

/// The times of all groups.
class GroupTable {
 public:
  explicit GroupTable(const PartitionProblem& problem) : cuts_(problem.cuts.size()) {
    times_.resize(cuts_ * cuts_);
    for (std::size_t begin = 0; begin + 1 < cuts_; ++begin) {
      double* times = &times_[begin * cuts_];
      std::size_t segment = 0;
      for (std::size_t end = begin + 1; end + 1 < cuts_; ++end) {
        const double bytes = problem.cuts[end].bytes - problem.cuts[begin].bytes;
        times[end] = problem.group_time(begin, end, problem.collective->ascending(bytes, segment));
      }
      times[cuts_ - 1] = problem.group_time(begin, cuts_ - 1);
    }
  }

  /// The times of the groups that begin at a cut, by the cut that ends them.
  [[nodiscard]] const double* from(std::size_t begin) const { return &times_[begin * cuts_]; }

 private:
  std::size_t cuts_;
  std::vector<double> times_;
};

/// Says whether what follows a state may end before a limit.
class EarliestEnd {
 public:
  EarliestEnd(const PartitionProblem& problem, const GroupTable& groups)
      : rates_(problem.rates), last_start_(problem.rates) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const std::size_t last_cut = problem.cuts.size() - 1;
    last_.resize(last_cut);
    rests_.resize(last_cut, {kNone, kNone});
    rests_.back() = {};
    all_rests_.resize(last_cut + 1, {kNone, kNone});
    all_rests_.back() = {0, -rates_.gap};  // no gap follows the last group
    const auto lower = [this](Rest& rest, double time, const Rest& others) {
      rest.consumption = std::min(rest.consumption, time + others.consumption);
      rest.in_a_row = std::min(rest.in_a_row, time + rates_.gap + others.in_a_row);
    };
    for (std::size_t begin = last_cut; begin-- > 0;) {
      const double* times = groups.from(begin);
      for (std::size_t end = begin + 1; end < last_cut; ++end) {
        lower(rests_[begin], times[end], rests_[end]);
        lower(all_rests_[begin], times[end], all_rests_[end]);
      }
      lower(all_rests_[begin], times[last_cut], all_rests_[last_cut]);
      last_[begin] = times[last_cut];
    }
    least_last_ = last_;
    least_rests_ = rests_;
    for (std::size_t i = 1; i < last_cut; ++i) {
      least_last_[i] = std::min(least_last_[i], least_last_[i - 1]);
      Rest& more = least_rests_[last_cut - 1 - i];
      more.consumption = std::max(more.consumption, least_rests_[last_cut - i].consumption);
      more.in_a_row = std::max(more.in_a_row, least_rests_[last_cut - i].in_a_row);
    }
  }

  /// Whether a partition with this state at this cut may end before `limit`.
  [[nodiscard]] bool is_before(double limit, const OverlapState& state, std::size_t cut) {
    const double from = state.consumer_end + rates_.gap;
    return std::max(state.producer_end + rates_.trigger, from) + last_[cut] < limit ||
           is_before(limit, state, cut, from);
  }

  /// Whether a partition with this state at this cut may end before `limit`, if at least one group
  /// comes before the last one, and the consumer does not start on the last one before `from`.
  [[nodiscard]] bool is_before(double limit, const OverlapState& state, std::size_t cut,
                               double from) {
    const std::size_t most = last_.size() - 1;
    if (cut >= most) return false;
    const auto last = [&](std::size_t begin) { return least_last_[begin]; };
    const auto before = [&](std::size_t begin) {
      return last_start_(state, from,
                         {rests_[cut].consumption - least_rests_[begin].consumption,
                          rests_[cut].in_a_row - least_rests_[begin].in_a_row});
    };
    // The last group that was possible for another state often is for this one.
    if (possible_ > cut && last(possible_) + before(possible_) < limit) return true;
    // Where the consumer is the limit, all last groups are equally good, and the sum of all groups
    // tells as much.
    if (last_start_(state, from, all_rests_[cut]) >= limit) return false;
    const auto found = find_under(limit, cut + 1, most, last, before);
    if (!found) return false;
    possible_ = *found;
    return true;
  }

 private:
  OverlapRates rates_;
  LastStart last_start_;
  std::vector<Rest> all_rests_{};     ///< the least of all groups from a cut on
  std::vector<double> last_{};        ///< the last group, by the cut where it begins
  std::vector<double> least_last_{};  ///< the least of those that begin there or before
  /// The least of groups from a cut to the last but one. From one cut to another takes at least the
  /// difference of the two.
  std::vector<Rest> rests_{};
  std::vector<Rest> least_rests_{};  ///< the most of those from there or from later cuts
  std::size_t possible_ = 0;         ///< where a last group began that was possible
};

/// A state worth keeping, and how it was reached.
struct Node {
  OverlapState state{};
  double handicap = 0;
  std::uint32_t first = 0;  ///< the cut that ends the first group
  std::uint32_t cut = 0;
  std::uint32_t parent = 0;
};

/// The production after each cut, for each end of the first group.
class Production {
 public:
  explicit Production(const PartitionProblem& problem)
      : problem_(problem), after_(problem.cuts.size()), leads_(after_.size()) {}

  /// The production after each cut from `first` on.
  [[nodiscard]] const double* after(std::size_t first) {
    std::vector<double>& after = after_[first];
    if (!after.empty()) return after.data();
    const std::size_t last = after_.size() - 1;
    after.resize(after_.size());
    const double all = problem_.produced(first, last);
    for (std::size_t cut = first; cut < last; ++cut) {
      after[cut] = all - problem_.produced(first, cut);
    }
    return after.data();
  }

  /// By how much at most, at the cuts after `cut`, pieces are ready later with first group `a` than
  /// with first group `b`, if both producers end at the same time. Both groups end at `cut` or
  /// before.
  [[nodiscard]] double lead(std::size_t a, std::size_t b, std::size_t cut) {
    if (leads_[a].empty()) leads_[a].resize(after_.size());
    std::vector<double>& leads = leads_[a][b];
    if (leads.empty()) {
      leads.resize(after_.size());
      const double* of_a = after(a);
      const double* of_b = after(b);
      for (std::size_t end = after_.size() - 1; end-- > std::max(a, b);) {
        leads[end] = std::max(leads[end + 1], of_b[end + 1] - of_a[end + 1]);
      }
    }
    return leads[cut];
  }

 private:
  const PartitionProblem& problem_;
  std::vector<std::vector<double>> after_;
  std::vector<std::vector<std::vector<double>>> leads_;  // by both first groups, then by cut
};

/// The least production of everything, over all ends of the first group.
double least_produced(const PartitionProblem& problem) {
  const std::size_t last = problem.cuts.size() - 1;
  double least = problem.produced(last, last);
  for (std::size_t first = 1; first < last; ++first) {
    least = std::min(least, problem.produced(first, last));
  }
  return least;
}

/// Solves one problem, cut by cut.
class PartitionSearch {
 public:
  /// `least_produced`: the least production of everything.
  PartitionSearch(const PartitionProblem& problem, double least_produced, double limit)
      : problem_(problem),
        least_produced_(least_produced),
        last_(problem.cuts.size() - 1),
        handicap_(problem.rates),
        groups_(problem),
        earliest_end_(problem, groups_),
        production_(problem),
        best_{limit, {}},
        fronts_(last_) {}

  [[nodiscard]] Partition solve() {
    close(first_step(last_).state, kNone);
    std::vector<OverlapState> states{{}};
    for (std::size_t first = 1; first < last_; ++first) {
      const Step step = first_step(first);
      // The rest is not consumed before this start, which only gets later with a larger first
      // group.
      const OverlapState initial = initial_state(problem_.start, least_produced_);
      if (!earliest_end_.is_before(best_.time, initial, 0, step.start)) break;
      states.push_back(step.state);
      if (earliest_end_.is_before(best_.time, step.state, first)) in_time(first, step.state);
    }
    for (std::size_t cut = 1; cut < last_; ++cut) {
      if (cut < states.size()) add(states[cut], cut, cut, kNone);
      for (const Node& node : fronts_[cut]) extend(node);
    }
    return std::move(best_);
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] Step first_step(std::size_t first) {
    const double all = problem_.produced(first, last_);
    return advance(initial_state(problem_.start, all), all - problem_.produced(first, first),
                   groups_.from(0)[first], problem_.rates);
  }

  /// Tries the partition in which each group has all that is ready when the consumer may start it.
  void in_time(std::size_t first, OverlapState state) {
    const OverlapRates rates = problem_.rates;
    const double* after = production_.after(first);
    std::vector<std::size_t> ends{first};
    while (true) {
      const std::size_t cut = ends.back();
      const double* group_time = groups_.from(cut);
      const double time = advance(state, 0, group_time[last_], rates).state.consumer_end;
      if (time < best_.time) {
        best_ = {time, ends};
        best_.ends.push_back(last_);
      }
      if (cut + 1 == last_) return;
      const double start = state.consumer_end + rates.gap;
      std::size_t end = cut + 1;
      while (end + 1 < last_ && state.producer_end - after[end + 1] + rates.trigger <= start) ++end;
      state = advance(state, after[end], group_time[end], rates).state;
      ends.push_back(end);
    }
  }

  /// Whether whatever follows one state ends no later than what follows the other. Both are at the
  /// same cut.
  [[nodiscard]] bool is_ahead(const Node& one, const Node& other) {
    if (one.state.consumer_end > other.state.consumer_end || one.handicap > other.handicap) {
      return false;
    }
    return one.first == other.first ||
           (handicap_.is_producer_end() &&
            one.handicap + production_.lead(one.first, other.first, one.cut) <= other.handicap);
  }

  /// Adds a node, unless another one is ahead of it. Removes those that it is ahead of.
  void add(const OverlapState& state, std::size_t first, std::size_t cut, std::uint32_t parent) {
    const Node node{.state = state,
                    .handicap = handicap_(state),
                    .first = static_cast<std::uint32_t>(first),
                    .cut = static_cast<std::uint32_t>(cut),
                    .parent = parent};
    std::vector<Node>& front = fronts_[cut];
    for (const Node& other : front) {
      if (is_ahead(other, node)) return;
    }
    std::erase_if(front, [&](const Node& other) { return is_ahead(node, other); });
    front.push_back(node);
  }

  /// Appends one more group to a node, in every possible way.
  void extend(const Node& from) {
    if (!earliest_end_.is_before(best_.time, from.state, from.cut)) return;
    const auto parent = static_cast<std::uint32_t>(kept_.size());
    kept_.push_back(from);
    const OverlapRates rates = problem_.rates;
    const double* group_time = groups_.from(from.cut);
    const double* after = production_.after(from.first);
    close(advance(from.state, 0, group_time[last_], rates).state, parent);
    for (std::size_t end = from.cut + 1; end < last_; ++end) {
      const Step step = advance(from.state, after[end], group_time[end], rates);
      if (earliest_end_.is_before(best_.time, step.state, end)) {
        add(step.state, from.first, end, parent);
      } else if (!earliest_end_.is_before(best_.time, from.state, from.cut, step.start)) {
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
  EarliestEnd earliest_end_;
  Production production_;
  Partition best_;
  std::vector<std::vector<Node>> fronts_;  // by cut: the states of which none is ahead of another
  std::vector<Node> kept_{};               // the states that were extended; `parent` is an index
};

/// The part of the problem that is known without a look at all groups.
WholeProblem whole(const PartitionProblem& problem) {
  WholeProblem known{.start = problem.start,
                     .first = problem.produced(1, 1),
                     .produced = least_produced(problem),
                     .bytes = problem.cuts.back().bytes,
                     .collective = problem.collective,
                     .last = problem.last,
                     .least_last = problem.least_last,
                     .shared = problem.shared,
                     .first_more = problem.first_more,
                     .rates = problem.rates};
  known.least = least_times(known);
  return known;
}

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

Partition best_partition(const PartitionProblem& problem, double limit) {
  const WholeProblem known = whole(problem);
  if (closer_bound(known, limit) >= limit) return {.time = limit};
  return PartitionSearch(problem, known.produced, limit).solve();
}

}  // namespace overlaptune
