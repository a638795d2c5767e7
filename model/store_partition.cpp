#include "model/store_partition.hpp"

#include <algorithm>
#include <cmath>

#include "model/gemm_physics.hpp"

namespace overlaptune {
namespace {

/// Tiles of a group that are sent one after the other: those of the other ranks, or the rank's own
/// sums.
struct Sending {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  double sent = 0;      ///< time of the links for one
  double earliest = 0;  ///< none leaves before
};

/// Share of the SMs that end their tiles at the same time, when `tiles` tiles are done; the others
/// have drifted apart (see `produced`).
double together(const StoreProblem& problem, std::int64_t tiles) {
  const double waves = std::ceil(static_cast<double>(tiles) / problem.sms);
  return 1 - std::min(problem.spread * std::sqrt(waves), 1.0);
}

/// Sends tiles. Returns when the first one is there to be sent.
double send(const StoreProblem& problem, const Sending& tiles, StoreState& state) {
  const auto ends = [&](std::int64_t count) { return problem.produced(count) + state.delay; };
  const auto there = [&](std::int64_t count) { return std::max(ends(count), tiles.earliest); };
  const std::int64_t count = tiles.end - tiles.begin;
  const double first = there(tiles.begin + 1);
  const double all = static_cast<double>(count) * tiles.sent;
  // An SM has at most two tiles that have not left it. So when the tile after these begins, all but
  // the tiles of the last two waves have been sent, and those that begin with it.
  const std::int64_t window = std::int64_t{2} * problem.sms + tiles.end % problem.sms;
  const double mean_sent = problem.all_sent() / static_cast<double>(problem.tiles());
  const double in_flight =
      static_cast<double>(std::min(count, window)) * tiles.sent +
      static_cast<double>(std::max<std::int64_t>(0, window - count)) * mean_sent;
  const double next = problem.produced(tiles.end + 1) - problem.tile_time;
  double delay = state.delay;
  if (tiles.end > window) delay = std::max(delay, state.link + all - in_flight - next);
  if (count > window) {
    delay = std::max(delay, first + static_cast<double>(count - window) * tiles.sent - next);
  }
  double link = std::max(state.link, first) + all;
  state.delay = delay;
  // The tiles of a wave end together. Those of the last two waves, and all after them, leave later.
  const std::int64_t last_wave = (tiles.end - 1) / problem.sms * problem.sms;
  const auto leave_after = [&](std::int64_t wave_begin, std::int64_t wave_end) {
    const auto left = static_cast<double>(tiles.end - std::max(tiles.begin, wave_begin));
    link = std::max(link, there(wave_end) + left * tiles.sent * together(problem, wave_end));
  };
  leave_after(last_wave, tiles.end);
  if (last_wave > tiles.begin) leave_after(last_wave - problem.sms, last_wave);
  state.link = link;
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

/// The best of a few partitions into equal groups, with which the search prunes from the beginning.
StorePartition best_equal_groups(const StoreProblem& problem, double limit) {
  StorePartition best{.time = limit};
  for (std::int64_t waves = problem.ranks;; waves *= 2) {
    std::vector<std::size_t> ends = equal_groups(problem, waves);
    const std::size_t groups = ends.size();
    const double time = store_time(problem, ends);
    if (time < best.time) best = {time, std::move(ends)};
    if (groups == 1) return best;
  }
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
        whole_(problem.produced(problem.tiles())),
        best_(best_equal_groups(problem, limit)),
        fronts_(problem.cuts.size()) {
    const double per_tile = problem.all_sent() / static_cast<double>(problem.tiles());
    for (const std::int64_t cut : problem.cuts) {
      left_.push_back(per_tile * static_cast<double>(problem.tiles() - cut));
    }
  }

  [[nodiscard]] StorePartition solve() {
    add({.state = first_state(problem_)});
    for (std::size_t cut = 0; cut < last_; ++cut) {
      for (const std::size_t at : fronts_[cut]) extend(at);
    }
    return std::move(best_);
  }

 private:
  /// A lower bound on the end of any partition with this state at this cut.
  [[nodiscard]] double bound(const StoreState& state, std::size_t cut) const {
    return std::max(whole_ + state.delay, state.link + left_[cut] + problem_.signal);
  }

  /// Appends one more group to a node, in every possible way.
  void extend(std::size_t at) {
    const Node from = nodes_[at];
    if (bound(from.state, from.cut) >= best_.time) return;
    for (std::size_t end = from.cut + 1; end <= last_; ++end) {
      const StoreStep step = advance(problem_, from.state, from.cut, end);
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
  double whole_;
  StorePartition best_;
  std::vector<std::vector<std::size_t>> fronts_;  // by cut
  std::vector<double> left_{};                    // time of the links for what comes after a cut
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
  const std::int64_t first = problem.cuts[begin];
  const std::int64_t last = problem.cuts[end];
  const std::int64_t own = (last - first + problem.ranks - 1) / problem.ranks;
  const std::int64_t others = last - own;  // the end of the tiles of the other ranks
  StoreStep step{.state = from};
  const double link = from.link;
  step.computed = problem.produced(first + 1) + from.delay;
  if (others > first) {
    step.computed =
        send(problem, {.begin = first, .end = others, .sent = problem.sent}, step.state);
  }
  step.start = std::max(link, step.computed);
  step.arrived = step.state.link + problem.signal;
  if (problem.waits) wait(problem, others, last, step.arrived, step.state);
  step.stalled = step.state.delay - from.delay;
  step.state.delay += static_cast<double>(own) * problem.add_up / problem.sms;
  if (problem.sum_sent > 0) {
    const double before = step.state.delay;
    send(problem,
         {.begin = others,
          .end = last,
          .sent = problem.sum_sent,
          .earliest = step.arrived + problem.add_up},
         step.state);
    step.stalled += step.state.delay - before;
    step.arrived = step.state.link + problem.signal;
  }
  return step;
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

StorePartition best_stores(const StoreProblem& problem, double limit) {
  if (problem.least_time() >= limit) return {.time = limit};
  return StoreSearch(problem, limit).solve();
}

}  // namespace overlaptune
