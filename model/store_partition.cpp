#include "model/store_partition.hpp"

#include <algorithm>
#include <cmath>

#include "model/gemm_physics.hpp"

namespace overlaptune {
namespace {

/// Share of the SMs that end their tiles at the same time, when `tiles` tiles are done; the others
/// have drifted apart (see `produced`).
double together(const StoreProblem& problem, std::int64_t tiles) {
  const auto waves = static_cast<double>((tiles + problem.sms - 1) / problem.sms);
  return 1 - std::min(problem.spread * std::sqrt(waves), 1.0);
}

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
  bool waits = false;  ///< the tile after these may wait for the links
  double before = 0;   ///< time of the links for the tiles that have been sent by then; 0: none
  Leaving last{};
  Leaving last_but_one{};  ///< as `last`, if these tiles are of one wave

  Sending() = default;
  Sending(const StoreProblem& problem, std::int64_t begin, std::int64_t end, double sent) {
    const std::int64_t count = end - begin;
    first = problem.produced(begin + 1);
    all = static_cast<double>(count) * sent;
    next = problem.produced(end + 1) - problem.tile_time;
    // An SM has at most two tiles that have not left it. So when the tile after these begins, all
    // but the tiles of the last two waves have been sent, and those that begin with it.
    const std::int64_t window = std::int64_t{2} * problem.sms + end % problem.sms;
    const double mean_sent = problem.all_sent() / static_cast<double>(problem.tiles());
    in_flight = static_cast<double>(std::min(count, window)) * sent +
                static_cast<double>(std::max<std::int64_t>(0, window - count)) * mean_sent;
    waits = end > window;
    before = static_cast<double>(std::max<std::int64_t>(0, count - window)) * sent;
    // The tiles of a wave end together. Those of the last two waves, and all after them, leave
    // later.
    const auto leaving = [&](std::int64_t wave_begin, std::int64_t wave_end) {
      const auto left = static_cast<double>(end - std::max(begin, wave_begin));
      return Leaving{problem.produced(wave_end), left * sent * together(problem, wave_end)};
    };
    const std::int64_t last_wave = (end - 1) / problem.sms * problem.sms;
    last = leaving(last_wave, end);
    last_but_one = last_wave > begin ? leaving(last_wave - problem.sms, last_wave) : last;
  }
};

/// Sends tiles, none of which leaves before `earliest`. Returns when the first one is there to be
/// sent.
double send(const Sending& tiles, double earliest, StoreState& state) {
  const auto there = [&](double produced) { return std::max(produced + state.delay, earliest); };
  const double first = there(tiles.first);
  double delay = state.delay;
  if (tiles.waits) delay = std::max(delay, state.link + tiles.all - tiles.in_flight - tiles.next);
  if (tiles.before > 0) delay = std::max(delay, first + tiles.before - tiles.next);
  state.delay = delay;
  state.link = std::max({std::max(state.link, first) + tiles.all,
                         there(tiles.last.produced) + tiles.last.sent,
                         there(tiles.last_but_one.produced) + tiles.last_but_one.sent});
  return first;
}

/// Lets the own tiles of a group wait, wave by wave, until the peers' tiles have arrived.
void wait(const StoreProblem& problem, std::int64_t begin, std::int64_t end, double arrived,
          StoreState& state) {
  const double spare = problem.in_turn ? problem.tile_time : 0;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t wave_end = std::min(end, (at / problem.sms + 1) * problem.sms);
    const double stall = arrived - spare - (problem.produced(wave_end) + state.delay);
    if (stall <= 0) return;
    state.delay += stall * static_cast<double>(wave_end - at) / problem.sms;
    at = wave_end;
  }
}

/// The tiles between two cuts as one group. All is known but the state before it.
struct StoreGroup {
  std::int64_t others = 0;  ///< the end of the tiles of the other ranks
  std::int64_t end = 0;     ///< the end of the rank's own tiles
  bool has_others = false;
  double computed = 0;  ///< the first tile is multiplied, with nothing to wait for
  Sending of_others{};
  Sending sums{};

  StoreGroup(const StoreProblem& problem, std::size_t begin_cut, std::size_t end_cut)
      : end(problem.cuts[end_cut]) {
    const std::int64_t begin = problem.cuts[begin_cut];
    const std::int64_t own = (end - begin + problem.ranks - 1) / problem.ranks;
    others = end - own;
    has_others = others > begin;
    computed = problem.produced(begin + 1);
    if (has_others) of_others = Sending(problem, begin, others, problem.sent);
    if (problem.sum_sent > 0) sums = Sending(problem, others, end, problem.sum_sent);
  }
};

/// Computes a group.
StoreStep advance(const StoreProblem& problem, const StoreState& from, const StoreGroup& group) {
  StoreStep step{.state = from};
  step.computed = group.computed + from.delay;
  if (group.has_others) {
    constexpr double kAnyTime = -std::numeric_limits<double>::infinity();
    step.computed = send(group.of_others, kAnyTime, step.state);
  }
  step.start = std::max(from.link, step.computed);
  step.arrived = step.state.link + problem.signal;
  if (problem.waits) wait(problem, group.others, group.end, step.arrived, step.state);
  step.stalled = step.state.delay - from.delay;
  const auto own = static_cast<double>(group.end - group.others);
  step.state.delay += own * problem.add_up / problem.sms;
  if (problem.sum_sent > 0) {
    const double before = step.state.delay;
    const double others_sent = step.state.link;
    const double earliest = step.arrived + problem.add_up;
    send(group.sums, earliest, step.state);
    step.stalled += step.state.delay - before;
    step.arrived = step.state.link + problem.signal;
    // Until the sums are there, the links carry tiles of the next group that are multiplied by
    // then, of one wave at most.
    const double next = group.sums.next + problem.tile_time + step.state.delay;
    if (next < earliest) {
      step.state.link =
          std::max({others_sent, next, earliest - problem.sms * problem.sent}) + group.sums.all;
    }
  }
  return step;
}

/// Groups of about this many waves.
std::vector<std::size_t> equal_groups(const StoreProblem& problem, std::int64_t waves) {
  const std::int64_t tiles = waves * problem.sms;
  std::vector<std::size_t> ends;
  std::int64_t begin = 0;
  for (std::size_t cut = 1; cut < problem.cuts.size(); ++cut) {
    if (problem.cuts[cut] - begin < tiles && cut + 1 < problem.cuts.size()) continue;
    ends.push_back(cut);
    begin = problem.cuts[cut];
  }
  return ends;
}

/// A state at a cut, and how it was reached.
struct Node {
  StoreState state{};
  std::size_t cut = 0;
  std::size_t parent = 0;
};

class StoreSearch {
 public:
  StoreSearch(const StoreProblem& problem, double limit)
      : problem_(problem),
        last_(problem.cuts.size() - 1),
        ends_(last_ + 1),
        best_{.time = limit},
        fronts_(problem.cuts.size()) {
    const double per_tile = problem.all_sent() / static_cast<double>(problem.tiles());
    for (const std::int64_t cut : problem.cuts) {
      left_.push_back(per_tile * static_cast<double>(problem.tiles() - cut));
    }
    // The last group begins at a cut or at a later one. Without delays, and with links that are
    // free, it ends then at the earliest.
    constexpr double kNever = std::numeric_limits<double>::infinity();
    double least = kNever;
    for (std::size_t cut = last_; cut-- > 0;) {
      const StoreState earliest{.delay = 0, .link = -kNever};
      least = std::min(least, end_of(problem, advance(problem, earliest, cut, last_)));
      ends_[cut] = least;
    }
  }

  [[nodiscard]] StorePartition solve() {
    const StoreState first = first_state(problem_);
    if (bound(first, 0) >= best_.time) return std::move(best_);
    best_ = best_equal_stores(problem_, best_.time);
    add({.state = first});
    for (std::size_t cut = 0; cut < last_; ++cut) {
      groups_.clear();
      for (const std::size_t at : fronts_[cut]) extend(at);
    }
    return std::move(best_);
  }

 private:
  /// A lower bound on the end of any partition with this state at this cut.
  [[nodiscard]] double bound(const StoreState& state, std::size_t cut) const {
    return std::max(ends_[cut] + state.delay, state.link + left_[cut] + problem_.signal);
  }

  /// Appends one more group to a node, in every possible way.
  void extend(std::size_t at) {
    const Node from = nodes_[at];
    if (bound(from.state, from.cut) >= best_.time) return;
    for (std::size_t end = from.cut + 1; end <= last_; ++end) {
      const std::size_t number = end - from.cut - 1;
      if (number == groups_.size()) groups_.emplace_back(problem_, from.cut, end);
      const StoreStep step = advance(problem_, from.state, groups_[number]);
      if (end == last_) {
        close(end_of(problem_, step), at);
      } else if (bound(step.state, end) < best_.time) {
        add({.state = step.state, .cut = end, .parent = at});
      }
    }
  }

  /// Keeps a node unless another one is ahead of it.
  void add(const Node& node) {
    std::vector<std::size_t>& front = fronts_[node.cut];
    const auto ahead = [](const StoreState& a, const StoreState& b) {
      return a.delay <= b.delay && a.link <= b.link;
    };
    for (const std::size_t at : front) {
      if (ahead(nodes_[at].state, node.state)) return;
    }
    std::erase_if(front, [&](std::size_t at) { return ahead(node.state, nodes_[at].state); });
    front.push_back(nodes_.size());
    nodes_.push_back(node);
  }

  void close(double time, std::size_t parent) {
    if (time >= best_.time) return;
    best_.time = time;
    best_.ends = {last_};
    for (std::size_t at = parent; nodes_[at].cut != 0; at = nodes_[at].parent) {
      best_.ends.push_back(nodes_[at].cut);
    }
    std::reverse(best_.ends.begin(), best_.ends.end());
  }

  const StoreProblem& problem_;
  std::size_t last_;
  std::vector<double> ends_;  // least end of everything, by the cut where a group begins
  StorePartition best_;
  std::vector<std::vector<std::size_t>> fronts_;  // by cut
  std::vector<double> left_{};                    // time of the links for what comes after a cut
  std::vector<StoreGroup> groups_{};  // those that begin at the cut whose states are extended
  std::vector<Node> nodes_{};
};

}  // namespace

double StoreProblem::produced(std::int64_t tiles) const {
  return per_launch + overlaptune::produced(tile_time, tiles, sms, spread);
}

double StoreProblem::all_sent() const {
  const double own = static_cast<double>(tiles()) / ranks;
  return own * ((ranks - 1) * sent + sum_sent);
}

double StoreProblem::least_time() const {
  return std::max(produced(tiles()), produced(1) + all_sent() + signal);
}

/// The first store waits until all ranks have said that their slots are free again.
StoreState first_state(const StoreProblem& problem) {
  return {.link = problem.signal};
}

StoreStep advance(const StoreProblem& problem, const StoreState& from, std::size_t begin,
                  std::size_t end) {
  return advance(problem, from, StoreGroup(problem, begin, end));
}

double end_of(const StoreProblem& problem, const StoreStep& last) {
  const double computed = problem.produced(problem.tiles()) + last.state.delay;
  return std::max(computed, last.arrived + (problem.sum_sent > 0 ? 0 : problem.add_up));
}

double store_time(const StoreProblem& problem, std::span<const std::size_t> ends) {
  StoreStep step{.state = first_state(problem)};
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    step = advance(problem, step.state, begin, end);
    begin = end;
  }
  return end_of(problem, step);
}

StorePartition best_equal_stores(const StoreProblem& problem, double limit) {
  StorePartition best{.time = limit};
  for (std::int64_t waves = problem.ranks;; waves *= 2) {
    std::vector<std::size_t> ends = equal_groups(problem, waves);
    const std::size_t groups = ends.size();
    const double time = store_time(problem, ends);
    if (time < best.time) best = {time, std::move(ends)};
    if (groups == 1) return best;
  }
}

StorePartition best_stores(const StoreProblem& problem, double limit) {
  if (problem.least_time() >= limit) return {.time = limit};
  return StoreSearch(problem, limit).solve();
}

}  // namespace overlaptune
