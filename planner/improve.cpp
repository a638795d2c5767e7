#include "planner/improve.hpp"

#include <algorithm>

namespace overlaptune {
namespace {

class Search {
 public:
  Search(const Rates& rates, std::span<const Run> runs, Filled& filled)
      : rates_(rates), runs_(runs), groups_(filled.groups), gpus_left_(filled.gpus_left) {
    times_.reserve(runs.size() * static_cast<std::size_t>(rates.levels()));
    for (const Run& run : runs) {
      for (int level = 0; level < rates.levels(); ++level) {
        times_.push_back(rates.time(run.length, level));
      }
    }
    // GPUs without a group become groups without sequences.
    for (int level = rates.levels() - 1; level >= 0; --level) {
      while (gpus_left_ >= (1 << level)) open(level);
    }
    counts_.assign(groups_.size() * runs.size(), 0);
    for (const Part& part : filled.parts) count(part.group, part.run) += part.count;
  }

  /// One step. Returns whether the slowest group became faster.
  bool step() {
    const int slowest = static_cast<int>(
        std::max_element(groups_.begin(), groups_.end(),
                         [](const OpenGroup& a, const OpenGroup& b) { return a.time < b.time; }) -
        groups_.begin());
    best_ = {.time = group(slowest).time * (1 - 1e-9)};
    for (int run = 0; run < runs(); ++run) {
      if (count(slowest, run) == 0) continue;
      for (int other = 0; other < static_cast<int>(groups_.size()); ++other) {
        if (other == slowest) continue;
        consider(slowest, run, other, -1);
        for (int back = run + 1; back < runs(); ++back) {
          if (count(other, back) > 0) consider(slowest, run, other, back);
        }
      }
    }
    if (best_.other < 0) return false;
    shift(slowest, best_.other, best_.run);
    if (best_.back >= 0) shift(best_.other, slowest, best_.back);
    return true;
  }

  /// Writes the result back; groups without sequences are given up.
  void finish(Filled& filled) {
    std::vector<OpenGroup> kept;
    filled.parts.clear();
    filled.gpus_left = rates_.gpus();
    for (int index = 0; index < static_cast<int>(groups_.size()); ++index) {
      if (group(index).tokens == 0) continue;
      for (int run = 0; run < runs(); ++run) {
        if (count(index, run) > 0) {
          filled.parts.push_back({static_cast<int>(kept.size()), run, count(index, run)});
        }
      }
      filled.gpus_left -= 1 << group(index).level;
      kept.push_back(group(index));
    }
    filled.groups = std::move(kept);
  }

 private:
  struct Step {
    double time = 0;
    int run = -1;
    int other = -1;
    int back = -1;  ///< the run that comes back for it; -1: none
  };

  [[nodiscard]] int runs() const { return static_cast<int>(runs_.size()); }
  OpenGroup& group(int index) { return groups_[static_cast<std::size_t>(index)]; }
  int& count(int index, int run) {
    return counts_[static_cast<std::size_t>(index) * runs_.size() + static_cast<std::size_t>(run)];
  }
  [[nodiscard]] double time(int run, int level) const {
    return times_[static_cast<std::size_t>(run * rates_.levels() + level)];
  }
  [[nodiscard]] std::int64_t length(int run) const {
    return run < 0 ? 0 : runs_[static_cast<std::size_t>(run)].length;
  }

  void open(int level) {
    gpus_left_ -= 1 << level;
    groups_.push_back({.level = level, .time = rates_.fixed(level)});
  }

  void consider(int slowest, int run, int other, int back) {
    const OpenGroup& from = group(slowest);
    const OpenGroup& to = group(other);
    double shorter = from.time - time(run, from.level);
    double longer = to.time + time(run, to.level);
    if (back >= 0) {
      shorter += time(back, from.level);
      longer -= time(back, to.level);
    }
    const double result = std::max(shorter, longer);
    if (result >= best_.time) return;
    const std::int64_t more = length(run) - length(back);
    if (to.tokens + more > rates_.capacity(to.level)) return;
    best_ = {result, run, other, back};
  }

  void shift(int from, int to, int run) {
    for (const auto& [index, sign] : {std::pair{from, -1}, {to, 1}}) {
      OpenGroup& changed = group(index);
      changed.time += sign * time(run, changed.level);
      changed.tokens += sign * length(run);
      count(index, run) += sign;
      if (changed.tokens == 0) changed.time = rates_.fixed(changed.level);
    }
  }

  const Rates& rates_;
  std::span<const Run> runs_;
  std::vector<OpenGroup> groups_;
  int gpus_left_;
  std::vector<double> times_{};  ///< by run, then level
  std::vector<int> counts_{};    ///< by group, then run
  Step best_{};
};

/// Doubles the slowest group where GPUs are free.
bool widen(const Rates& rates, std::span<const Run> runs, Filled& filled) {
  const auto slowest =
      std::max_element(filled.groups.begin(), filled.groups.end(),
                       [](const OpenGroup& a, const OpenGroup& b) { return a.time < b.time; });
  if (slowest == filled.groups.end() || slowest->level + 1 >= rates.levels() ||
      filled.gpus_left < (1 << slowest->level)) {
    return false;
  }
  const int wider = slowest->level + 1;
  const auto index = static_cast<int>(slowest - filled.groups.begin());
  double time = rates.fixed(wider);
  for (const Part& part : filled.parts) {
    if (part.group != index) continue;
    time += part.count * rates.time(runs[static_cast<std::size_t>(part.run)].length, wider);
  }
  if (time >= slowest->time) return false;
  filled.gpus_left -= 1 << slowest->level;
  slowest->level = wider;
  slowest->time = time;
  return true;
}

}  // namespace

void improve(const Rates& rates, std::span<const Run> runs, int steps, Filled& filled) {
  if (filled.groups.empty()) return;
  while (widen(rates, runs, filled)) {
  }
  Search search(rates, runs, filled);
  while (steps-- > 0 && search.step()) {
  }
  search.finish(filled);
}

}  // namespace overlaptune
