#include "planner/fill.hpp"

#include <algorithm>
#include <limits>

#include "planner/lower_bound.hpp"

namespace overlaptune {
namespace {

constexpr double kLittleMore = 1.25;  // area over the cheapest that joining a group may cost
constexpr double kRounding = 1e-9;    // targets come from sums whose order differs

std::size_t index(int number) {
  return static_cast<std::size_t>(number);
}

}  // namespace

double Filled::time() const {
  double most = 0;
  for (const OpenGroup& group : groups) most = std::max(most, group.time);
  return most;
}

bool Filled::took_all() const {
  return std::all_of(left.begin(), left.end(), [](int count) { return count == 0; });
}

Counts Filled::taken(int runs) const {
  Counts counts(index(runs), 0);
  for (const Part& part : parts) counts[index(part.run)] += part.count;
  return counts;
}

Filler::Filler(const Runs& runs, int least_level) : runs_(&runs), least_level_(least_level) {
  cheapest_.reserve(index(runs.size()));
  for (int run = 0; run < runs.size(); ++run) {
    double cheapest = std::numeric_limits<double>::infinity();
    for (int level = least_level; level < runs.rates().levels(); ++level) {
      cheapest = std::min(cheapest, runs.area(run, level));
    }
    cheapest_.push_back(cheapest);
  }
  by_level_.resize(index(runs.rates().levels()));
}

int Filler::room(const OpenGroup& group, int run, int wanted) const {
  const double by_time = (target_ - group.time) / runs_->time(run, group.level);
  if (by_time < 1) return 0;
  const std::int64_t by_memory =
      (runs_->rates().capacity(group.level) - group.tokens) / runs_->tokens(run, group.level);
  const int by_number = std::min(wanted, runs_->rates().most_sequences() - group.sequences);
  const auto fitting = static_cast<int>(std::min<double>(by_time, by_number));
  return static_cast<int>(std::min<std::int64_t>(by_memory, fitting));
}

void Filler::put(int group, int run, int count) {
  OpenGroup& own = filled_->groups[index(group)];
  own.time += runs_->time(run, own.level) * count;
  own.tokens += runs_->tokens(run, own.level) * count;
  own.sequences += count;
  filled_->parts.push_back({group, run, count});
  filled_->left[index(run)] -= count;
}

void Filler::join(int run, double most_area) {
  for (int level = 0; level < runs_->rates().levels(); ++level) {
    if (runs_->area(run, level) > most_area) continue;
    std::vector<int>& open = by_level_[index(level)];
    const double time = runs_->time(run, level);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const int group = open[i];
      const OpenGroup& own = filled_->groups[index(group)];
      if (own.time + time <= target_ && filled_->left[index(run)] > 0) {
        const int taken = room(own, run, filled_->left[index(run)]);
        if (taken > 0) put(group, run, taken);
        // A group that not even the shortest sequence fits into is not looked at again.
        if (taken > 0 && room(own, shortest_, 1) == 0) continue;
      }
      open[kept++] = group;
    }
    open.resize(kept);
    if (filled_->left[index(run)] == 0) return;
  }
}

void Filler::open(int run) {
  const Rates& rates = runs_->rates();
  if (filled_->gpus_left < 1 << least_level_) return;
  int level = least_level_;
  while (level < rates.levels() && rates.fixed(level) + runs_->time(run, level) > target_) ++level;
  if (level == rates.levels()) return;
  while (filled_->left[index(run)] > 0 && filled_->gpus_left >= (1 << level)) {
    filled_->gpus_left -= 1 << level;
    const int group = static_cast<int>(filled_->groups.size());
    by_level_[index(level)].push_back(group);
    filled_->groups.push_back({.level = level, .time = rates.fixed(level)});
    put(group, run, std::max(1, room(filled_->groups.back(), run, filled_->left[index(run)])));
  }
}

void Filler::fill(std::span<const int> counts, double target, Filled& filled) {
  filled_ = &filled;
  target_ = target * (1 + kRounding);
  filled.groups.clear();
  filled.parts.clear();
  filled.left.assign(counts.begin(), counts.end());
  filled.gpus_left = runs_->rates().gpus().count;
  for (auto& groups : by_level_) groups.clear();
  shortest_ = runs_->size() - 1;
  while (shortest_ > 0 && counts[index(shortest_)] == 0) --shortest_;
  for (int run = 0; run < runs_->size(); ++run) {
    if (filled.left[index(run)] > 0) join(run, cheapest_[index(run)] * kLittleMore);
    if (filled.left[index(run)] > 0) open(run);
  }
  const auto has_group = [](const std::vector<int>& groups) { return !groups.empty(); };
  for (int run = 0; run < runs_->size(); ++run) {
    if (std::none_of(by_level_.begin(), by_level_.end(), has_group)) return;
    if (filled.left[index(run)] > 0) join(run, std::numeric_limits<double>::max());
  }
}

Filled pack(const Runs& runs, std::span<const int> counts, int steps, int least_level) {
  Filler filler(runs, least_level);
  Filled best;
  Filled tried;
  const auto reached = [&](double target) {
    filler.fill(counts, target, tried);
    if (!tried.took_all()) return false;
    if (best.groups.empty() || tried.time() < best.time()) std::swap(best, tried);
    return true;
  };
  if (fewest_micro_batches(runs, counts) > 1) return {};
  double low = lower_bound(runs, counts, 1);
  double most = runs.rates().fixed(runs.rates().levels() - 1);
  for (int run = 0; run < runs.size(); ++run) {
    most += counts[index(run)] * runs.time(run, runs.rates().levels() - 1);
  }
  // From the bound upwards, because the best time is usually near it.
  double target = low;
  for (double step = 0.01; !reached(target); step *= 2) {
    if (target > most) return {};
    low = target;
    target *= 1 + step;
  }
  for (int i = 0; i < steps && best.time() > low * (1 + 1e-4); ++i) {
    const double middle = 0.5 * (low + best.time());
    if (!reached(middle)) low = middle;
  }
  return best;
}

}  // namespace overlaptune
