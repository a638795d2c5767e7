#include "planner/baselines.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "planner/assemble.hpp"
#include "planner/lower_bound.hpp"

namespace overlaptune {
namespace {

/// Bins of best-fit decreasing packing, by tokens.
Filled packed(const Rates& rates, std::span<const Run> runs, int level) {
  Filled bins;
  std::multimap<std::int64_t, int> by_room;  // bins by the tokens that they still hold
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const double each = rates.time(runs[run].length, level);
    for (int i = 0; i < runs[run].count; ++i) {
      int bin = static_cast<int>(bins.groups.size());
      std::int64_t room = rates.capacity(level);
      if (const auto fitting = by_room.lower_bound(runs[run].length); fitting != by_room.end()) {
        std::tie(room, bin) = *fitting;
        by_room.erase(fitting);
      } else {
        bins.groups.push_back({.level = level, .time = rates.fixed(level)});
      }
      OpenGroup& group = bins.groups[static_cast<std::size_t>(bin)];
      group.time += each;
      group.tokens += runs[run].length;
      bins.parts.push_back({bin, static_cast<int>(run), 1});
      by_room.emplace(room - runs[run].length, bin);
    }
  }
  return bins;
}

/// Sequences spread over `bins` groups, each to the one with the least work (longest processing
/// time first: Graham 1969) that has memory for it. No groups: the memory does not suffice.
Filled balanced(const Rates& rates, std::span<const Run> runs, int level, std::size_t bins) {
  Filled made;
  made.groups.assign(bins, {.level = level, .time = rates.fixed(level)});
  std::set<std::pair<double, int>> by_time;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    by_time.emplace(rates.fixed(level), static_cast<int>(bin));
  }
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const double each = rates.time(runs[run].length, level);
    for (int i = 0; i < runs[run].count; ++i) {
      const auto fitting = std::find_if(by_time.begin(), by_time.end(), [&](const auto& entry) {
        const OpenGroup& group = made.groups[static_cast<std::size_t>(entry.second)];
        return group.tokens + runs[run].length <= rates.capacity(level);
      });
      if (fitting == by_time.end()) return {};
      const int bin = fitting->second;
      by_time.erase(fitting);
      OpenGroup& group = made.groups[static_cast<std::size_t>(bin)];
      group.time += each;
      group.tokens += runs[run].length;
      made.parts.push_back({bin, static_cast<int>(run), 1});
      by_time.emplace(group.time, bin);
    }
  }
  return made;
}

/// Runs groups side by side, those with the most work together.
BatchPlan in_micro_batches(const Rates& rates, std::span<const Run> runs, int level,
                           const Filled& bins) {
  std::vector<int> order(bins.groups.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return bins.groups[static_cast<std::size_t>(a)].time >
           bins.groups[static_cast<std::size_t>(b)].time;
  });
  const std::size_t width = static_cast<std::size_t>(rates.gpus() >> level);
  std::vector<Filled> micro_batches((order.size() + width - 1) / width);
  std::vector<std::pair<std::size_t, int>> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    Filled& own = micro_batches[i / width];
    place[static_cast<std::size_t>(order[i])] = {i / width, static_cast<int>(own.groups.size())};
    own.groups.push_back(bins.groups[static_cast<std::size_t>(order[i])]);
  }
  for (const Part& part : bins.parts) {
    const auto& [micro_batch, group] = place[static_cast<std::size_t>(part.group)];
    micro_batches[micro_batch].parts.push_back({group, part.run, part.count});
  }
  BatchPlan plan;
  for (const Filled& each : micro_batches) {
    plan.micro_batches.push_back(micro_batch_of(rates, runs, each));
  }
  add_up(rates, plan);
  plan.lower_bound_us = batch_bound(rates, runs);
  return plan;
}

}  // namespace

std::optional<BatchPlan> plan_with_level(const Rates& rates, std::span<const std::int64_t> lengths,
                                         int level) {
  const std::vector<Run> runs = runs_of(lengths);
  if (runs.empty() || rates.capacity(level) < runs.front().length) return std::nullopt;
  const Filled bins = packed(rates, runs, level);
  return in_micro_batches(rates, runs, level, bins);
}

std::optional<BatchPlan> balanced_with_level(const Rates& rates,
                                             std::span<const std::int64_t> lengths, int level) {
  auto best = plan_with_level(rates, lengths, level);
  if (!best) return best;
  const std::vector<Run> runs = runs_of(lengths);
  const auto width = static_cast<std::size_t>(rates.gpus() >> level);
  const std::size_t fewest = best->micro_batches.size();
  for (std::size_t count = fewest; count <= fewest + 1; ++count) {
    const Filled bins = balanced(rates, runs, level, count * width);
    if (bins.groups.empty()) continue;
    BatchPlan plan = in_micro_batches(rates, runs, level, bins);
    if (plan.time_us < best->time_us) best = std::move(plan);
  }
  return best;
}

}  // namespace overlaptune
