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

/// What tiles that end in one wave cost the SMs, if they are sent. The links carry them together,
/// and a consumer is free again when its staging buffers hold what has not left; and its buffers
/// are, when the tile is signalled. Where consumers take turns, the other one multiplies its tile
/// meanwhile. Where they do not, SMs drift apart, and wait for half of it.
double time_held_up(const StoreProblem& problem, std::int64_t tiles, double sent) {
  const double handed_over = (1 - problem.held) * static_cast<double>(tiles) * sent;
  if (!problem.in_turn) return handed_over / 2;
  return tiles == 0 ? 0 : std::max(0.0, handed_over + problem.signal - problem.tile_time);
}

/// Tiles of a group that are sent one after the other: those of the other ranks, or the rank's own
/// sums. All is known but the state before them.
struct Sending {
  double first = 0;  ///< the first one is multiplied, with nothing to wait for
  double all = 0;    ///< time of the links
  /// The tile after these begins, with nothing to wait for, and then so much has not been sent yet.
  double next = 0;
  double in_flight = 0;
  double held_up = 0;  ///< the SMs are later for these tiles
  bool waits = false;  ///< the tile after these may wait for the links
  double freed = 0;  ///< the last tile that it may wait for is multiplied, with nothing to wait for
  double begun = 0;  ///< all tiles before these are, too
  double before = 0;  ///< time of the links for the tiles that have been sent by then; 0: none
  Leaving last{};
  Leaving last_but_one{};  ///< as `last`, if these tiles are of one wave

  Sending() = default;
  Sending(const StoreProblem& problem, std::int64_t begin, std::int64_t end, double sent) {
    const std::int64_t count = end - begin;
    first = problem.produced(begin + 1);
    all = static_cast<double>(count) * sent;
    next = problem.produced(end + 1) - problem.tile_time;
    // An SM has at most two tiles that have not left it: one that was just multiplied, and what the
    // buffers hold of the one before. So when the tile after these begins, all but such tiles have
    // been sent, and those that begin with it.
    const std::int64_t two_waves = std::int64_t{2} * problem.sms + end % problem.sms;
    const double window = static_cast<double>(two_waves) - (1 - problem.held) * problem.sms;
    const double mean_sent = problem.all_sent() / static_cast<double>(problem.tiles());
    const auto tiles = static_cast<double>(count);
    in_flight = std::min(tiles, window) * sent + std::max(0.0, window - tiles) * mean_sent;
    waits = end > two_waves;
    freed = waits ? problem.produced(end - two_waves) : 0;
    begun = problem.produced(begin);
    before = std::max(0.0, tiles - window) * sent;
    const std::int64_t first_wave_end = std::min(end, (begin / problem.sms + 1) * problem.sms);
    const std::int64_t rest = end - first_wave_end;
    const auto held_up_by = [&](std::int64_t ending) {
      return time_held_up(problem, ending, sent);
    };
    held_up = held_up_by(first_wave_end - begin) + held_up_by(rest % problem.sms) +
              static_cast<double>(rest / problem.sms) * held_up_by(problem.sms);
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
  double delay = state.delay + tiles.held_up;
  if (tiles.waits) {
    // If the links stood still since then, that tile left by as much too late as the last one
    // before these does.
    const double late = std::max(state.delay, state.link - tiles.begun);
    const double left =
        std::min(state.link + tiles.all - tiles.in_flight, tiles.freed + late + tiles.before);
    delay = std::max(delay, left - tiles.next);
  }
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

std::int64_t own_tiles(const StoreProblem& problem, std::size_t begin, std::size_t end) {
  return (problem.cuts[end] - problem.cuts[begin] + problem.ranks - 1) / problem.ranks;
}

/// A step. All is known but the state before it.
struct Step {
  std::int64_t others = 0;  ///< the end of the tiles of the other ranks
  std::int64_t end = 0;     ///< the end of the rank's own tiles
  bool has_others = false;
  double computed = 0;  ///< the first tile is multiplied, with nothing to wait for
  double apart = 0;     ///< the SMs are later for waves of tiles of one kind
  Sending of_others{};
  Sending sums{};

  Step(const StoreProblem& problem, const StoreCuts& cuts) {
    const std::int64_t own = own_tiles(problem, cuts.begin, cuts.end);
    const std::int64_t own_now =
        problem.own_later ? own_tiles(problem, cuts.before, cuts.begin) : own;
    const std::int64_t begin = problem.cuts[cuts.begin] - (problem.own_later ? own_now : 0);
    others = begin + problem.cuts[cuts.end] - problem.cuts[cuts.begin] - own;
    end = others + own_now;
    has_others = others > begin;
    computed = problem.produced(begin + 1);
    const auto more_than_a_wave =
        static_cast<double>(std::max<std::int64_t>(0, end - begin - problem.sms));
    apart = problem.apart * more_than_a_wave / problem.sms;
    if (has_others) of_others = Sending(problem, begin, others, problem.sent);
    if (problem.sum_sent > 0 && own_now > 0) {
      sums = Sending(problem, others, end, problem.sum_sent);
      // In one wave, other SMs than those of the peers' tiles are held up for the sums.
      if (end - begin <= problem.sms * 3 / 2) {
        sums.held_up = std::max(0.0, sums.held_up - of_others.held_up);
      }
    }
  }
};

/// Computes a step.
StoreStep advance(const StoreProblem& problem, const StoreState& from, const Step& tiles) {
  StoreStep step{.state = from};
  step.state.delay += tiles.apart;
  step.computed = tiles.computed + from.delay;
  if (tiles.has_others) {
    constexpr double kAnyTime = -std::numeric_limits<double>::infinity();
    step.computed = send(tiles.of_others, kAnyTime, step.state);
    step.state.arrived = step.state.link + problem.signal;
  }
  step.start = std::max(from.link, step.computed);
  step.others_arrived = step.state.arrived;
  step.others_stalled = step.state.delay - from.delay;
  if (tiles.end == tiles.others) return step;
  const double arrived = (problem.own_later ? from.arrived : step.state.arrived) + problem.receive;
  double before = step.state.delay;
  if (problem.waits) wait(problem, tiles.others, tiles.end, arrived, step.state);
  step.own_stalled = step.state.delay - before;
  const auto own = static_cast<double>(tiles.end - tiles.others);
  step.state.delay += own * problem.add_up / problem.sms;
  if (problem.sum_sent > 0) {
    before = step.state.delay;
    const double others_sent = step.state.link;
    const double earliest = arrived + problem.add_up;
    send(tiles.sums, earliest, step.state);
    step.own_stalled += step.state.delay - before;
    step.sums_arrived = step.state.link + problem.signal;
    // Until the sums are there, the links carry tiles of the next group that are multiplied by
    // then, of one wave at most.
    const double next = tiles.sums.next + problem.tile_time + step.state.delay;
    if (next < earliest) {
      step.state.link =
          std::max({others_sent, next, earliest - problem.sms * problem.sent}) + tiles.sums.all;
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

/// A state after a group, and how it was reached.
struct Node {
  StoreState state{};
  std::size_t begin = 0;  ///< cuts of the group
  std::size_t end = 0;
  std::size_t parent = 0;
};

class StoreSearch {
 public:
  StoreSearch(const StoreProblem& problem, double limit)
      : problem_(problem), last_(problem.cuts.size() - 1), best_{.time = limit} {
    const double per_tile = problem.all_sent() / static_cast<double>(problem.tiles());
    for (const std::int64_t cut : problem.cuts) {
      left_.push_back(per_tile * static_cast<double>(problem.tiles() - cut));
    }
    ends_ = ends_of_last_groups();
  }

  [[nodiscard]] StorePartition solve() {
    const StoreState first = first_state(problem_);
    if (bound(first, 0) >= best_.time) return std::move(best_);
    best_ = best_equal_stores(problem_, best_.time);
    fronts_.resize(problem_.own_later ? last_ * (last_ + 1) / 2 + 1 : last_);
    add({.state = first});
    for (std::size_t cut = 0; cut < last_; ++cut) {
      // Without `own_later` it does not matter where the group before began.
      const std::size_t fronts = problem_.own_later ? std::max<std::size_t>(1, cut) : 1;
      for (std::size_t before = 0; before < fronts; ++before) {
        steps_.clear();
        for (const std::size_t at : fronts_[front_of(before, cut)]) extend(at);
      }
    }
    return std::move(best_);
  }

 private:
  /// The least end of everything, by the cut where a group begins.
  [[nodiscard]] std::vector<double> ends_of_last_groups() const {
    const double multiplied = problem_.produced(problem_.tiles());
    std::vector<double> ends(last_ + 1, multiplied + (problem_.sum_sent > 0 ? problem_.signal : 0));
    if (problem_.own_later) return ends;
    // The last group begins at a cut or at a later one. Without delays, and with links that are
    // free, it ends then at the earliest.
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const StoreState earliest{.delay = 0, .link = -kNever, .arrived = -kNever};
    double least = kNever;
    for (std::size_t cut = last_; cut-- > 0;) {
      const StoreStep step = advance(problem_, earliest, {cut, cut, last_});
      least = std::min(least, end_of(problem_, step));
      ends[cut] = least;
    }
    return ends;
  }

  /// A lower bound on the end of any partition with this state at this cut.
  [[nodiscard]] double bound(const StoreState& state, std::size_t cut) const {
    return std::max(ends_[cut] + state.delay, state.link + left_[cut] + problem_.signal);
  }

  [[nodiscard]] std::size_t front_of(std::size_t begin, std::size_t end) const {
    return problem_.own_later && end > 0 ? end * (end - 1) / 2 + begin + 1 : end;
  }

  /// Appends one more group to a node, in every possible way.
  void extend(std::size_t at) {
    const Node from = nodes_[at];
    if (bound(from.state, from.end) >= best_.time) return;
    for (std::size_t end = from.end + 1; end <= last_; ++end) {
      const std::size_t number = end - from.end - 1;
      if (number == steps_.size()) steps_.push_back({problem_, {from.begin, from.end, end}});
      const StoreStep step = advance(problem_, from.state, steps_[number]);
      if (end == last_) {
        close(end_of(problem_, finish(problem_, step, from.end)), at);
      } else if (bound(step.state, end) < best_.time) {
        add({.state = step.state, .begin = from.end, .end = end, .parent = at});
      }
    }
  }

  /// Keeps a node unless another one is ahead of it.
  void add(const Node& node) {
    std::vector<std::size_t>& front = fronts_[front_of(node.begin, node.end)];
    const auto ahead = [&](const StoreState& a, const StoreState& b) {
      return a.delay <= b.delay && a.link <= b.link &&
             (!problem_.own_later || a.arrived <= b.arrived);
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
    for (std::size_t at = parent; nodes_[at].end != 0; at = nodes_[at].parent) {
      best_.ends.push_back(nodes_[at].end);
    }
    std::reverse(best_.ends.begin(), best_.ends.end());
  }

  const StoreProblem& problem_;
  std::size_t last_;
  StorePartition best_;
  std::vector<double> left_{};  // time of the links for what comes after a cut
  std::vector<double> ends_{};
  std::vector<std::vector<std::size_t>> fronts_{};
  std::vector<Step> steps_{};  // those that follow the nodes of one front
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

StoreStep advance(const StoreProblem& problem, const StoreState& from, const StoreCuts& cuts) {
  return advance(problem, from, Step(problem, cuts));
}

StoreStep finish(const StoreProblem& problem, const StoreStep& last, std::size_t begin) {
  if (!problem.own_later) return last;
  const std::size_t end = problem.cuts.size() - 1;
  return advance(problem, last.state, {begin, end, end});
}

double end_of(const StoreProblem& problem, const StoreStep& last) {
  const double computed = problem.produced(problem.tiles()) + last.state.delay;
  if (problem.sum_sent > 0) return std::max(computed, last.sums_arrived);
  return std::max(computed, last.others_arrived + problem.receive + problem.add_up);
}

double store_time(const StoreProblem& problem, std::span<const std::size_t> ends) {
  StoreStep step{.state = first_state(problem)};
  StoreCuts cuts;
  for (const std::size_t end : ends) {
    cuts = {cuts.begin, cuts.end, end};
    step = advance(problem, step.state, cuts);
  }
  return end_of(problem, finish(problem, step, cuts.begin));
}

StorePartition best_equal_stores(const StoreProblem& problem, double limit) {
  StorePartition best{.time = limit};
  for (std::int64_t waves = 1;; waves *= 2) {
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
