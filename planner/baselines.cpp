#include "planner/baselines.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/assemble.hpp"

namespace overlaptune {
namespace {

/// Adds one sequence to a group.
void add(Filled& bins, const Runs& runs, int bin, int run) {
  OpenGroup& group = bins.groups[static_cast<std::size_t>(bin)];
  group.time += runs.time(run, group.level);
  group.tokens += runs.length(run);
  bins.parts.push_back({bin, run, 1});
}

/// As few groups as the memory allows: each sequence goes to the group with the least room that
/// still holds it.
Filled packed(const Runs& runs, int level) {
  Filled bins;
  std::multimap<std::int64_t, int> by_room;  // bins by the tokens that they still hold
  for (int run = 0; run < runs.size(); ++run) {
    for (int i = 0; i < runs.counts()[static_cast<std::size_t>(run)]; ++i) {
      auto bin = static_cast<int>(bins.groups.size());
      std::int64_t room = runs.rates().capacity(level);
      if (const auto fitting = by_room.lower_bound(runs.length(run)); fitting != by_room.end()) {
        std::tie(room, bin) = *fitting;
        by_room.erase(fitting);
      } else {
        bins.groups.push_back({.level = level, .time = runs.rates().fixed(level)});
      }
      add(bins, runs, bin, run);
      by_room.emplace(room - runs.length(run), bin);
    }
  }
  return bins;
}

/// `count` groups: each sequence goes to the one with the least work (longest processing time
/// first: Graham 1969) that has memory for it. No groups: the memory does not suffice.
Filled spread(const Runs& runs, int level, std::size_t count) {
  Filled bins;
  bins.groups.assign(count, {.level = level, .time = runs.rates().fixed(level)});
  std::set<std::pair<double, int>> by_time;
  for (std::size_t bin = 0; bin < count; ++bin) {
    by_time.emplace(runs.rates().fixed(level), static_cast<int>(bin));
  }
  for (int run = 0; run < runs.size(); ++run) {
    for (int i = 0; i < runs.counts()[static_cast<std::size_t>(run)]; ++i) {
      const auto fitting = std::find_if(by_time.begin(), by_time.end(), [&](const auto& entry) {
        const OpenGroup& group = bins.groups[static_cast<std::size_t>(entry.second)];
        return group.tokens + runs.length(run) <= runs.rates().capacity(level);
      });
      if (fitting == by_time.end()) return {};
      const int bin = fitting->second;
      by_time.erase(fitting);
      add(bins, runs, bin, run);
      by_time.emplace(bins.groups[static_cast<std::size_t>(bin)].time, bin);
    }
  }
  return bins;
}

/// Runs `width` groups side by side, those with the most work together.
std::vector<Filled> in_micro_batches(const Filled& bins, std::size_t width) {
  const auto group = [&](int bin) -> const OpenGroup& {
    return bins.groups[static_cast<std::size_t>(bin)];
  };
  std::vector<int> order;
  for (int bin = 0; bin < static_cast<int>(bins.groups.size()); ++bin) {
    if (group(bin).tokens > 0) order.push_back(bin);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return group(a).time > group(b).time; });
  std::vector<Filled> made((order.size() + width - 1) / width);
  std::vector<std::size_t> place(bins.groups.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = i;
    made[i / width].groups.push_back(group(order[i]));
  }
  for (const Part& part : bins.parts) {
    const std::size_t at = place[static_cast<std::size_t>(part.group)];
    made[at / width].parts.push_back({static_cast<int>(at % width), part.run, part.count});
  }
  return made;
}

}  // namespace

std::optional<BatchPlan> plan_with_level(const Runs& runs, int level) {
  if (runs.size() == 0 || runs.rates().capacity(level) < runs.length(0)) return std::nullopt;
  const auto width = static_cast<std::size_t>(runs.rates().gpus().count >> level);
  const std::vector<Filled> by_fit = in_micro_batches(packed(runs, level), width);
  BatchPlan best = plan_of(runs, by_fit);
  const Filled even = spread(runs, level, by_fit.size() * width);
  if (!even.groups.empty()) {
    BatchPlan plan = plan_of(runs, in_micro_batches(even, width));
    if (plan.time_us < best.time_us) best = std::move(plan);
  }
  return best;
}

}  // namespace overlaptune
