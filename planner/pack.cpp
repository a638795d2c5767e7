#include "planner/pack.hpp"

#include <algorithm>
#include <cmath>

#include "planner/lower_bound.hpp"

namespace overlaptune {
namespace {

/// How many of `wanted` sequences still fit into a group.
int room(const OpenGroup& group, const Rates& rates, double target, double each,
         std::int64_t length, int wanted) {
  const double by_time = (target - group.time) / each;
  const std::int64_t by_memory = (rates.capacity(group.level) - group.tokens) / length;
  if (by_time < 1 || by_memory < 1) return 0;
  return std::min({wanted, static_cast<int>(std::min(by_time, 1e9)),
                   static_cast<int>(std::min<std::int64_t>(by_memory, wanted))});
}

/// Puts sequences into a group and takes them off those that are left.
void put(Filled& filled, int group, int run, std::int64_t length, double each, int count) {
  OpenGroup& own = filled.groups[static_cast<std::size_t>(group)];
  own.time += each * count;
  own.tokens += length * count;
  filled.parts.push_back({group, run, count});
  filled.left[static_cast<std::size_t>(run)] -= count;
}

/// One fill: what does not change while it goes on.
struct Filling {
  const Rates& rates;
  std::span<const Run> runs;
  double target;
  Filled& filled;

  /// Fills the open groups of one level, in their order.
  void fill_level(int level, int run) const {
    const std::int64_t length = runs[static_cast<std::size_t>(run)].length;
    const double each = rates.time(length, level);
    for (const int group : filled.by_level[static_cast<std::size_t>(level)]) {
      const int wanted = filled.left[static_cast<std::size_t>(run)];
      if (wanted == 0) return;
      const int taken =
          room(filled.groups[static_cast<std::size_t>(group)], rates, target, each, length, wanted);
      if (taken > 0) put(filled, group, run, length, each, taken);
    }
  }

  /// Opens groups on the lowest level on which a sequence can end in time.
  void open_groups(int run) const {
    const std::int64_t length = runs[static_cast<std::size_t>(run)].length;
    int level = 0;
    while (level < rates.levels() && (rates.capacity(level) < length ||
                                      rates.fixed(level) + rates.time(length, level) > target)) {
      ++level;
    }
    if (level == rates.levels()) return;
    const double each = rates.time(length, level);
    while (filled.left[static_cast<std::size_t>(run)] > 0 && filled.gpus_left >= (1 << level)) {
      filled.gpus_left -= 1 << level;
      const int group = static_cast<int>(filled.groups.size());
      filled.by_level[static_cast<std::size_t>(level)].push_back(group);
      filled.groups.push_back({.level = level, .time = rates.fixed(level)});
      const int wanted = filled.left[static_cast<std::size_t>(run)];
      put(filled, group, run, length, each,
          std::max(1, room(filled.groups.back(), rates, target, each, length, wanted)));
    }
  }
};

}  // namespace

double Filled::time() const {
  double most = 0;
  for (const OpenGroup& group : groups) most = std::max(most, group.time);
  return most;
}

bool Filled::took_all() const {
  return std::all_of(left.begin(), left.end(), [](int count) { return count == 0; });
}

void fill(const Rates& rates, std::span<const Run> runs, std::span<const int> counts, double target,
          Fit fit, Filled& filled) {
  filled.groups.clear();
  filled.parts.clear();
  filled.left.assign(counts.begin(), counts.end());
  filled.gpus_left = rates.gpus();
  filled.by_level.resize(static_cast<std::size_t>(rates.levels()));
  for (auto& groups : filled.by_level) groups.clear();
  const Filling filling{rates, runs, target, filled};
  const auto fuller = [&](int a, int b) {
    return filled.groups[static_cast<std::size_t>(a)].time >
           filled.groups[static_cast<std::size_t>(b)].time;
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const int run = static_cast<int>(i);
    for (int level = 0; level < rates.levels() && filled.left[i] > 0; ++level) {
      auto& groups = filled.by_level[static_cast<std::size_t>(level)];
      if (fit == Fit::fullest) std::sort(groups.begin(), groups.end(), fuller);
      filling.fill_level(level, run);
    }
    if (filled.left[i] > 0) filling.open_groups(run);
  }
}

Filled pack(const Rates& rates, std::span<const Run> runs, std::span<const int> counts, int steps) {
  double low = micro_batch_bound(rates, runs, counts);
  double high = 0;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    high += counts[run] * rates.time(runs[run].length, 0);  // all on one GPU, one after the other
  }
  high += rates.fixed(rates.levels() - 1) + rates.fixed(0);
  Filled best;
  Filled tried;
  const auto reached = [&](double target) {
    for (const Fit fit : {Fit::first, Fit::fullest}) {
      fill(rates, runs, counts, target, fit, tried);
      if (!tried.took_all()) continue;
      if (best.groups.empty() || tried.time() < best.time()) std::swap(best, tried);
      return true;
    }
    return false;
  };
  // From the bound upwards, because the best time is usually near it.
  double step = 0.02;
  double target = low;
  while (!reached(target)) {
    if (target > high) return {};
    low = target;
    target *= 1 + step;
    step *= 2;
  }
  high = best.time();
  for (int i = 0; i < steps && high > low * 1.0005; ++i) {
    const double middle = 0.5 * (low + high);
    if (reached(middle)) {
      high = std::min(middle, best.time());
    } else {
      low = middle;
    }
  }
  return best;
}

}  // namespace overlaptune
