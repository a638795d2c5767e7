#include "planning/sequences/search/bins.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "core/base/index.hpp"

namespace overlaptune {
namespace {

/// Groups as they are filled.
class Bins {
 public:
  explicit Bins(const Runs& runs) : runs_(runs) {}

  int open(int level) {
    made_.groups.push_back({.level = level, .time = runs_.rates().fixed(level)});
    return static_cast<int>(made_.groups.size()) - 1;
  }
  void put(int bin, int run) { made_.put(runs_, {bin, run, 1}); }
  [[nodiscard]] const OpenGroup& at(int bin) const { return made_.groups[index(bin)]; }
  /// Tokens that a group still takes; none if it has all the sequences that it may have.
  [[nodiscard]] std::int64_t room(int bin) const {
    const OpenGroup& group = at(bin);
    if (group.sequences >= runs_.rates().most_sequences()) return 0;
    return runs_.rates().capacity(group.level) - group.tokens;
  }
  [[nodiscard]] Filled& made() { return made_; }

 private:
  const Runs& runs_;
  Filled made_{};
};

/// The micro-batch of each group, and its number there.
using Places = std::vector<std::pair<std::size_t, std::size_t>>;

/// Fills groups of micro-batches with those that have places in them.
void fill(std::vector<Filled>& micro_batches, const Places& places, const Filled& groups) {
  for (const Part& part : groups.parts) {
    const auto& [at, group] = places[index(part.group)];
    micro_batches[at].groups[group] = groups.groups[index(part.group)];
    micro_batches[at].parts.push_back({static_cast<int>(group), part.run, part.count});
  }
}

/// The end of a sequence in a group of a level.
struct Soonest {
  double end = kNever;
  int level = 0;
};

/// Bins of each level by the work that they have, for runs that come longest first. A bin without
/// room for a sequence is set aside until one comes that it holds; a bin without room for the
/// shortest one is not looked at again.
class ByTime {
 public:
  ByTime(const Runs& runs, Bins& bins)
      : runs_(runs),
        bins_(bins),
        open_(index(runs.rates().levels())),
        aside_(index(runs.rates().levels())) {}

  /// Adds a bin that is not there.
  void add(int bin) {
    const int level = bins_.at(bin).level;
    if (bins_.room(bin) < runs_.tokens(runs_.size() - 1, level)) return;
    open_[index(level)].emplace(bins_.at(bin).time, bin);
  }
  /// The bin of a level with the least work that holds a sequence; -1: none.
  [[nodiscard]] int least(int run, int level) {
    auto& open = open_[index(level)];
    auto& aside = aside_[index(level)];
    const std::int64_t tokens = runs_.tokens(run, level);
    for (; !aside.empty() && aside.top().first >= tokens; aside.pop()) add(aside.top().second);
    for (; !open.empty(); open.pop()) {
      const int bin = open.top().second;
      const std::int64_t room = bins_.room(bin);
      if (room >= tokens) return bin;
      aside.emplace(room, bin);
    }
    return -1;
  }
  /// Where a sequence ends soonest among the bins that `least` finds on levels from `from` on. None
  /// holds it: never.
  [[nodiscard]] Soonest soonest(int run, int from) {
    Soonest best;
    for (int level = from; level < runs_.rates().levels(); ++level) {
      const int bin = least(run, level);
      const double end = bin < 0 ? kNever : bins_.at(bin).time + runs_.time(run, level);
      if (end < best.end) best = {end, level};
    }
    return best;
  }
  /// Puts a sequence into the bin that `least` found.
  void put_into_least(int run, int level) {
    const int bin = open_[index(level)].top().second;
    open_[index(level)].pop();
    bins_.put(bin, run);
    add(bin);
  }
  void put_into_new(int run, int level) {
    const int bin = bins_.open(level);
    bins_.put(bin, run);
    add(bin);
  }
  /// The most room of a level's bins, where none of them held the last sequence.
  [[nodiscard]] std::int64_t most_room(int level) const {
    const auto& aside = aside_[index(level)];
    return aside.empty() ? 0 : aside.top().first;
  }
  [[nodiscard]] bool none() const {
    const auto is_empty = [](const auto& bins) { return bins.empty(); };
    return std::all_of(open_.begin(), open_.end(), is_empty) &&
           std::all_of(aside_.begin(), aside_.end(), is_empty);
  }

 private:
  const Runs& runs_;
  Bins& bins_;
  using ByWork = std::pair<double, int>;
  using LeastFirst = std::priority_queue<ByWork, std::vector<ByWork>, std::greater<>>;
  using MostRoomFirst = std::priority_queue<std::pair<std::int64_t, int>>;

  std::vector<LeastFirst> open_;
  std::vector<MostRoomFirst> aside_;
};

/// How many bins each level gets of so many GPUs.
std::vector<int> shares(const Runs& runs, int level, int gpus) {
  const Rates& rates = runs.rates();
  std::vector<double> area(index(rates.levels()), 0);
  std::vector<double> tokens(index(rates.levels()), 0);
  double total = 0;
  for (int run = 0; run < runs.size(); ++run) {
    const int own = runs.holding_level(run, level);
    area[index(own)] += runs.count(run) * runs.area(run, own);
    tokens[index(own)] += runs.count(run) * static_cast<double>(runs.tokens(run, own));
    total += runs.count(run) * runs.area(run, own);
  }
  std::vector<int> bins(index(rates.levels()), 0);
  int left = gpus;
  // The narrowest level gets what the wider ones, which are rounded, leave.
  for (int own = rates.levels() - 1; own >= level; --own) {
    if (area[index(own)] == 0) continue;
    const auto held = static_cast<double>(rates.capacity(own));
    const double wanted = std::max(gpus * area[index(own)] / total / (1 << own),
                                   std::ceil(tokens[index(own)] / held));
    const bool last = std::all_of(area.begin() + level, area.begin() + own,
                                  [](double narrower) { return narrower == 0; });
    const int most = left >> own;
    bins[index(own)] = last ? most : std::min(most, static_cast<int>(std::lround(wanted)));
    left -= bins[index(own)] << own;
  }
  return bins;
}

/// The first run behind `run` that is of a narrower level, or has at most so many tokens.
int next_fitting(const Runs& runs, int run, int level, int own, std::int64_t room) {
  int first = run + 1;
  for (int last = runs.size(); first < last;) {
    const int middle = first + (last - first) / 2;
    const bool passed = runs.holding_level(middle, level) == own && runs.tokens(middle, own) > room;
    (passed ? first : last) = passed ? middle + 1 : middle;
  }
  return first;
}

}  // namespace

Filled packed_groups(const Runs& runs, int level, bool share) {
  const Rates& rates = runs.rates();
  Bins bins(runs);
  std::vector<std::multimap<std::int64_t, int>> by_room(index(rates.levels()));
  for (int run = 0; run < runs.size(); ++run) {
    const int own = runs.holding_level(run, level);
    const int widest = share ? rates.levels() - 1 : own;
    for (int left = runs.count(run); left > 0;) {
      int bin = -1;
      for (int tried = own; tried <= widest && bin < 0; ++tried) {
        const auto fitting = by_room[index(tried)].lower_bound(runs.tokens(run, tried));
        if (fitting == by_room[index(tried)].end()) continue;
        bin = fitting->second;
        by_room[index(tried)].erase(fitting);
      }
      if (bin < 0) bin = bins.open(own);
      // The bin has the least room that suffices, and keeps it until equal sequences fill it.
      const int taken = bins.at(bin).level;
      do {
        bins.put(bin, run);
      } while (--left > 0 && bins.room(bin) >= runs.tokens(run, taken));
      by_room[index(taken)].emplace(bins.room(bin), bin);
    }
  }
  return std::move(bins.made());
}

Filled spread_groups(const Runs& runs, int level, int micro_batches) {
  const Rates& rates = runs.rates();
  Bins bins(runs);
  ByTime open(runs, bins);
  const std::vector<int> numbers = shares(runs, level, rates.gpus().count * micro_batches);
  for (int own = level; own < rates.levels(); ++own) {
    for (int i = 0; i < numbers[index(own)]; ++i) open.add(bins.open(own));
  }
  for (int run = 0; run < runs.size(); ++run) {
    const int own = runs.holding_level(run, level);
    for (int i = 0; i < runs.count(run); ++i) {
      const Soonest best = open.soonest(run, own);
      if (best.end == kNever) return {};
      open.put_into_least(run, best.level);
    }
  }
  return std::move(bins.made());
}

std::vector<Filled> side_by_side(const Runs& runs, const Filled& groups) {
  std::vector<int> order;
  for (int bin = 0; bin < static_cast<int>(groups.groups.size()); ++bin) {
    if (groups.groups[index(bin)].sequences > 0) order.push_back(bin);
  }
  std::ranges::stable_sort(order, std::greater{},
                           [&](int bin) { return groups.groups[index(bin)].time; });
  std::vector<Filled> made;
  Places places(groups.groups.size());
  std::size_t full = 0;  // micro-batches before this one have no GPU left
  for (const int bin : order) {
    const OpenGroup& group = groups.groups[index(bin)];
    std::size_t at = full;
    while (at < made.size() && made[at].gpus_left < 1 << group.level) ++at;
    if (at == made.size()) made.push_back({.gpus_left = runs.rates().gpus().count});
    places[index(bin)] = {at, made[at].groups.size()};
    made[at].groups.emplace_back();
    made[at].gpus_left -= 1 << group.level;
    while (full < made.size() && made[full].gpus_left == 0) ++full;
  }
  fill(made, places, groups);
  return made;
}

std::vector<Filled> least_finish(const Runs& runs, int micro_batches, bool narrow) {
  const Rates& rates = runs.rates();
  Bins bins(runs);
  ByTime open(runs, bins);
  std::vector<Filled> made(index(micro_batches), {.gpus_left = rates.gpus().count});
  auto first = made.begin();  // micro-batches before this one have no GPU left
  Places places;
  for (int run = 0; run < runs.size(); ++run) {
    for (int i = 0; i < runs.count(run); ++i) {
      Soonest best = open.soonest(run, rates.least_level());
      auto new_in = made.end();  // the end: no new group
      while (first != made.end() && first->gpus_left == 0) ++first;
      for (int level = rates.least_level(); level < rates.levels(); ++level) {
        const double end = rates.fixed(level) + runs.time(run, level);
        if (end == kNever) continue;
        const auto has_room = [&](const Filled& each) { return each.gpus_left >= 1 << level; };
        const auto at = std::find_if(first, made.end(), has_room);
        if (at == made.end()) break;
        if (end < best.end) {
          best = {end, level};
          new_in = at;
        }
        if (narrow) break;
      }
      if (best.end == kNever) return {};
      if (new_in == made.end()) {
        open.put_into_least(run, best.level);
        continue;
      }
      places.emplace_back(new_in - made.begin(), new_in->groups.size());
      new_in->groups.emplace_back();
      new_in->gpus_left -= 1 << best.level;
      open.put_into_new(run, best.level);
    }
  }
  fill(made, places, bins.made());
  std::erase_if(made, [](const Filled& filled) { return filled.groups.empty(); });
  return made;
}

std::vector<Filled> filled_to_memory(const Runs& runs, int level) {
  std::vector<Filled> made;
  Counts left = runs.counts();
  int first = 0;  // run that is left
  while (first < runs.size()) {
    Bins bins(runs);
    ByTime open(runs, bins);
    int gpus = runs.rates().gpus().count;
    for (int run = first; run < runs.size() && (gpus > 0 || !open.none());) {
      if (left[index(run)] == 0) {
        ++run;
        continue;
      }
      const int own = runs.holding_level(run, level);
      int& count = left[index(run)];
      for (; count > 0; --count) {
        if (gpus >= 1 << own) {
          gpus -= 1 << own;
          open.put_into_new(run, own);
        } else if (open.least(run, own) >= 0) {
          open.put_into_least(run, own);
        } else {
          break;
        }
      }
      run = count == 0 ? run + 1 : next_fitting(runs, run, level, own, open.most_room(own));
    }
    while (first < runs.size() && left[index(first)] == 0) ++first;
    made.push_back(std::move(bins.made()));
  }
  return made;
}

}  // namespace overlaptune
