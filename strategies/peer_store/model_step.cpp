#include "strategies/peer_store/model_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/gemm_physics.hpp"

namespace overlaptune {
namespace {

/// Share of the SMs that end their tiles at the same time, when `tiles` tiles are done; the others
/// have drifted apart (see `produced`).
double together(const StoreProblem& problem, std::int64_t tiles) {
  const auto waves = static_cast<double>((tiles + problem.sms - 1) / problem.sms);
  return 1 - std::min(problem.spread * std::sqrt(waves), 1.0);
}

/// Time for which tiles that end in one wave hold up the SMs, if they are sent. The links carry
/// them together, and a consumer is free again when its staging buffers hold what has not left. Its
/// buffers are free when the tile has been signalled. Where consumers take turns, the other one
/// multiplies its tile meanwhile. Where they do not, SMs drift apart, and wait for half of it.
double time_held_up(const StoreProblem& problem, std::int64_t tiles, double sent) {
  const double handed_over = (1 - problem.held) * static_cast<double>(tiles) * sent;
  if (!problem.ping_pong) return handed_over / 2;
  return tiles == 0 ? 0 : std::max(0.0, handed_over + problem.signal - problem.tile_time);
}

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
  const double spare = problem.ping_pong ? problem.tile_time : 0;
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

Sending::Sending(const StoreProblem& problem, std::int64_t begin, std::int64_t end, double sent) {
  const std::int64_t count = end - begin;
  first = problem.produced(begin + 1);
  all = static_cast<double>(count) * sent;
  next = problem.produced(end + 1) - problem.tile_time;
  // An SM has at most two tiles that have not left it: one that was just multiplied, and what the
  // buffers hold of the one before. So when the tile after these begins, all have been sent but
  // `ahead` waves of them, and those that begin with it.
  const std::int64_t ahead =
      static_cast<std::int64_t>(problem.ahead * problem.sms) + end % problem.sms;
  const double window = static_cast<double>(ahead) - (1 - problem.held) * problem.sms;
  const double mean_sent = problem.all_sent() / static_cast<double>(problem.tiles());
  const auto tiles = static_cast<double>(count);
  in_flight = std::min(tiles, window) * sent + std::max(0.0, window - tiles) * mean_sent;
  waits = end > ahead;
  freed = waits ? problem.produced(end - ahead) : 0;
  begun = problem.produced(begin);
  before = std::max(0.0, tiles - window) * sent;
  const std::int64_t first_wave_end = std::min(end, (begin / problem.sms + 1) * problem.sms);
  const std::int64_t rest = end - first_wave_end;
  const auto held_up_by = [&](std::int64_t ending) { return time_held_up(problem, ending, sent); };
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

PreparedStep::PreparedStep(const StoreProblem& problem, const StoreCuts& cuts) {
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

/// The first store waits until all ranks have said that their slots are free again.
StoreState first_state(const StoreProblem& problem) {
  return {.link = problem.signal};
}

StoreStep advance(const StoreProblem& problem, const StoreState& from, const PreparedStep& tiles) {
  StoreStep step{.state = from};
  step.state.delay += tiles.apart;
  const double begun = step.state.delay;
  step.computed = tiles.computed + from.delay;
  if (tiles.has_others) {
    constexpr double kAnyTime = -std::numeric_limits<double>::infinity();
    step.computed = send(tiles.of_others, kAnyTime, step.state);
    step.state.arrived = step.state.link + problem.signal;
  }
  step.start = std::max(from.link, step.computed);
  step.others_arrived = step.state.arrived;
  step.others_stalled = step.state.delay - begun;
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
    step.state.link += problem.gap;
  }
  return step;
}

StoreStep advance(const StoreProblem& problem, const StoreState& from, const StoreCuts& cuts) {
  return advance(problem, from, PreparedStep(problem, cuts));
}

StoreStep finish(const StoreProblem& problem, const StoreStep& last, std::size_t begin) {
  if (!problem.own_later) return last;
  const std::size_t end = problem.cuts.size() - 1;
  return advance(problem, last.state, {begin, end, end});
}

double end_of(const StoreProblem& problem, const StoreStep& last) {
  const double computed = problem.produced(problem.tiles()) + last.state.delay;
  if (problem.sum_sent > 0) return std::max(computed, last.sums_arrived);
  return std::max(computed + problem.last, last.others_arrived + problem.receive + problem.add_up);
}

}  // namespace overlaptune
