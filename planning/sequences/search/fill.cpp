#include "planning/sequences/search/fill.hpp"

#include <algorithm>
#include <limits>

#include "core/base/index.hpp"
#include "planning/sequences/search/lower_bound.hpp"

namespace overlaptune {
namespace {

constexpr double kLittleMore = 1.25;  // area over the cheapest that joining a group may cost
constexpr double kRounding = 1e-9;    // targets come from sums whose order differs

}  // namespace

double Filled::time() const {
  double most = 0;
  for (const OpenGroup& group : groups) most = std::max(most, group.time);
  return most;
}

bool Filled::took_all() const {
  return std::all_of(left.begin(), left.end(), [](int count) { return count == 0; });
}

void Filled::put(const Runs& runs, const Part& part) {
  OpenGroup& own = groups[index(part.group)];
  own.time += runs.time(part.run, own.level) * part.count;
  own.tokens += runs.tokens(part.run, own.level) * part.count;
  own.sequences += part.count;
  parts.push_back(part);
}

Counts Filled::taken(int runs) const {
  Counts counts(index(runs), 0);
  for (const Part& part : parts) counts[index(part.run)] += part.count;
  return counts;
}

Filler::Filler(const Runs& runs, int least_level) : runs_(&runs), least_level_(least_level) {
  cheapest_.reserve(index(runs.size()));
  for (int run = 0; run < runs.size(); ++run) {
    double cheapest = kNever;
    for (int level = least_level; level < runs.rates().levels(); ++level) {
      cheapest = std::min(cheapest, runs.area(run, level));
    }
    cheapest_.push_back(cheapest);
  }
  by_level_.resize(index(runs.rates().levels()));
}

double Filler::least_work(std::span<const int> counts) const {
  double area = 0;
  for (std::size_t run = 0; run < counts.size(); ++run) {
    if (counts[run] > 0) area += counts[run] * cheapest_[run];
  }
  return area / runs_->rates().gpus().count;
}

int Filler::room(const OpenGroup& group, int run, int wanted) const {
  const double time = runs_->time(run, group.level);
  const double slack = target_ - group.time;
  const std::int64_t tokens = runs_->tokens(run, group.level);
  const std::int64_t memory = runs_->rates().capacity(group.level) - group.tokens;
  const int number = std::min(wanted, runs_->rates().most_sequences() - group.sequences);
  if (slack < time || memory < tokens || number < 1) return 0;
  if (number == 1) return 1;
  const auto fitting = static_cast<int>(std::min<double>(slack / time, number));
  // A division of whole numbers takes as long as all of the rest.
  return tokens * fitting <= memory ? fitting : static_cast<int>(memory / tokens);
}

void Filler::put(int group, int run, int count) {
  filled_->put(*runs_, {group, run, count});
  filled_->left[index(run)] -= count;
}

bool Filler::may_hold(int run, int level) const {
  const Level& own = by_level_[index(level)];
  return !own.open.empty() && own.time + runs_->time(run, level) <= target_ &&
         own.tokens + runs_->tokens(run, level) <= runs_->rates().capacity(level);
}

void Filler::join(int run, double most_area) {
  int& left = filled_->left[index(run)];
  for (int level = least_level_; level < runs_->rates().levels() && left > 0; ++level) {
    if (runs_->area(run, level) > most_area || !may_hold(run, level)) continue;
    Level& own = by_level_[index(level)];
    const double time = runs_->time(run, level);
    double least_time = kNever;
    std::int64_t least_tokens = std::numeric_limits<std::int64_t>::max();
    auto kept = own.open.begin();
    auto next = kept;
    for (; next != own.open.end() && left > 0; ++next) {
      const OpenGroup& group = filled_->groups[index(*next)];
      if (group.time + time <= target_) {
        const int taken = room(group, run, left);
        if (taken > 0) put(*next, run, taken);
        // A group that not even the shortest sequence fits into is not looked at again.
        if (room(group, shortest_, 1) == 0) continue;
      }
      least_time = std::min(least_time, group.time);
      least_tokens = std::min(least_tokens, group.tokens);
      *kept++ = *next;
    }
    // Groups only grow: where some were not looked at, what was the least before still is.
    if (next == own.open.end()) {
      own.time = least_time;
      own.tokens = least_tokens;
    }
    own.open.erase(kept, next);
  }
}

void Filler::open(int run) {
  const Rates& rates = runs_->rates();
  if (filled_->gpus_left < 1 << least_level_) return;
  int level = least_level_;
  while (level < rates.levels() && rates.fixed(level) + runs_->time(run, level) > target_) ++level;
  if (level == rates.levels()) return;
  Level& own = by_level_[index(level)];
  while (filled_->left[index(run)] > 0 && filled_->gpus_left >= (1 << level)) {
    filled_->gpus_left -= 1 << level;
    const int group = static_cast<int>(filled_->groups.size());
    filled_->groups.push_back({.level = level, .time = rates.fixed(level)});
    put(group, run, std::max(1, room(filled_->groups.back(), run, filled_->left[index(run)])));
    const OpenGroup& made = filled_->groups.back();
    own.time = own.open.empty() ? made.time : std::min(own.time, made.time);
    own.tokens = own.open.empty() ? made.tokens : std::min(own.tokens, made.tokens);
    own.open.push_back(group);
  }
}

bool Filler::may_join(int run) const {
  for (int level = least_level_; level < runs_->rates().levels(); ++level) {
    if (may_hold(run, level)) return true;
  }
  return false;
}

/// Shorter sequences take less time and memory, so the places that may join are the last ones.
std::size_t Filler::next_joining(std::size_t place) const {
  if (place == present_.size() || may_join(present_[place])) return place;
  const auto from = present_.begin() + static_cast<std::ptrdiff_t>(place);
  const auto may_not = [&](int run) { return !may_join(run); };
  return static_cast<std::size_t>(std::partition_point(from, present_.end(), may_not) -
                                  present_.begin());
}

void Filler::fill(std::span<const int> counts, double target, Filled& filled) {
  filled_ = &filled;
  target_ = target * (1 + kRounding);
  filled.groups.clear();
  filled.parts.clear();
  filled.left.assign(counts.begin(), counts.end());
  filled.gpus_left = runs_->rates().gpus().count;
  for (Level& level : by_level_) level.open.clear();
  present_.clear();
  for (int run = 0; run < runs_->size(); ++run) {
    if (counts[index(run)] > 0) present_.push_back(run);
  }
  if (present_.empty()) return;
  shortest_ = present_.back();
  for (std::size_t place = 0; place < present_.size(); ++place) {
    if (filled.gpus_left < 1 << least_level_) place = next_joining(place);
    if (place == present_.size()) break;
    const int run = present_[place];
    join(run, cheapest_[index(run)] * kLittleMore);
    if (filled.left[index(run)] > 0) open(run);
  }
  for (std::size_t place = next_joining(0); place < present_.size();
       place = next_joining(place + 1)) {
    const int run = present_[place];
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
