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

/// The earliest end after a state from which some production and at least some consumption remain.
/// Each is slowed while both run; the most that both can run beside each other is bounded by
/// either's length. The last group follows the producer. Non-decreasing in the state.
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

  /// As if what remains is not consumed before `from`, which may be later than the consumer's end.
  [[nodiscard]] double operator()(const OverlapState& state, double from, double production,
                                  double consumption) const {
    const double end = advance(state, production, 0, rates_).ready;  // with nothing more beside it
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

/// For each cut the least that what follows it can take, however it is divided.
std::vector<double> least_rests(const PartitionProblem& problem) {
  const std::size_t cuts = problem.cuts.size();
  // A gap runs at full speed while both run: as work that is slowed there it counts less.
  const double gap = problem.rates.gap / problem.rates.consumer_slowdown;
  std::vector<double> rests(cuts, std::numeric_limits<double>::infinity());
  rests.back() = 0;
  for (std::size_t begin = cuts - 1; begin-- > 0;) {
    for (std::size_t end = begin + 1; end < cuts; ++end) {
      rests[begin] = std::min(rests[begin], gap + problem.group_time(begin, end) + rests[end]);
    }
  }
  return rests;
}

/// The times of the groups from one cut, each found out once.
class GroupsFrom {
 public:
  GroupsFrom(const PartitionProblem& problem, std::size_t begin)
      : problem_(problem), begin_(begin) {}

  /// Asked for by ascending `end`, again and again.
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

/// States at one cut of which none dominates another, by ascending producer.
class Front {
 public:
  /// False if a state that is as good is already there.
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

/// The production after each cut, whatever the groups.
std::vector<double> productions_after(const PartitionProblem& problem) {
  const CutPoint& last = problem.cuts.back();
  std::vector<double> rests{last.first};
  rests.reserve(problem.cuts.size());
  for (const CutPoint& cut : problem.cuts.subspan(1)) {
    rests.push_back(last.produced - cut.produced);
    rests.front() = std::min(rests.front(), cut.first + cut.debt + rests.back());
  }
  return rests;
}

/// The best of the partitions into equal groups, to prune with from the beginning.
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

}  // namespace

std::vector<Piece> pieces(const PartitionProblem& problem, std::span<const std::size_t> ends) {
  std::vector<Piece> list;
  list.reserve(ends.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    list.push_back(problem.production(begin, end));
    list.back().consumption = problem.group_time(begin, end);
    begin = end;
  }
  return list;
}

double lower_bound(const WholeProblem& problem) {
  const double idle = problem.first + problem.rates.trigger;
  // As if the consumer were busy, without slowing the producer, until its first piece can come.
  const OverlapState state{.producer = problem.start - (problem.rates.producer_slowdown - 1) * idle,
                           .consumer_end = problem.start + idle};
  return EarliestEnd(problem.rates, problem.least_time)(
      state, problem.produced, problem.bytes * problem.least_time_per_byte);
}

Partition best_partition(const PartitionProblem& problem, double limit) {
  const auto& cuts = problem.cuts;
  const OverlapRates& rates = problem.rates;
  const std::size_t last = cuts.size() - 1;
  const std::vector<double> rests = least_rests(problem);
  const std::vector<double> productions = productions_after(problem);
  Partition best = equal_groups(problem);
  if (best.time >= limit) best = {limit, {}};
  // Whatever group comes last holds at least the last cut's bytes.
  const double last_group =
      (*problem.collective)(cuts[last].bytes - cuts[last - 1].bytes) - problem.drain;
  const EarliestEnd earliest_end(rates, last_group);
  auto rest_from = [&](const OverlapState& state, double from, std::size_t cut) {
    return earliest_end(state, from, productions[cut], rests[cut]);
  };
  auto hopeless = [&](const OverlapState& state, std::size_t cut) {
    return rest_from(state, state.consumer_end, cut) >= best.time;
  };

  std::vector<Front> fronts(last);
  std::vector<Node> kept;  // every state that was extended, for the way back
  fronts[0].add({.state = initial_state(problem.start), .cut = 0, .parent = 0});
  std::uint32_t best_parent = 0;
  bool improved = false;
  for (std::size_t i = 0; i < last; ++i) {
    GroupsFrom group_time(problem, i);
    for (const Node& node : fronts[i].nodes()) {
      if (hopeless(node.state, i)) continue;
      const auto parent = static_cast<std::uint32_t>(kept.size());
      kept.push_back(node);
      const double time = finish(node.state, problem.production(i, last).production,
                                 problem.group_time(i, last), rates)
                              .state.consumer_end;
      if (time < best.time) {
        best.time = time;
        best_parent = parent;
        improved = true;
      }
      for (std::size_t j = i + 1; j < last; ++j) {
        const Piece piece = problem.production(i, j);
        Step step = advance(node.state, piece.production, group_time(j), rates);
        step.state = indebted(step.state, piece.debt, rates);
        // Nothing of the rest is consumed before this start, nor before those of larger groups.
        if (rest_from(node.state, step.start - rates.gap, i) >= best.time) break;
        if (hopeless(step.state, j)) continue;
        fronts[j].add(
            {.state = step.state, .cut = static_cast<std::uint32_t>(j), .parent = parent});
      }
    }
    fronts[i] = {};
  }
  if (improved) {
    best.ends = {last};
    for (std::uint32_t at = best_parent; kept[at].cut != 0; at = kept[at].parent) {
      best.ends.push_back(kept[at].cut);
    }
    std::reverse(best.ends.begin(), best.ends.end());
  }
  return best;
}

}  // namespace overlaptune
