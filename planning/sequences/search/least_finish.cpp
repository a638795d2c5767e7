#include "planning/sequences/search/least_finish.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace overlaptune {
namespace {

/// Where a sequence would go.
struct Choice {
  double end = std::numeric_limits<double>::infinity();
  int group = -1;  ///< -1: a new one
  std::size_t micro_batch = 0;
  int level = 0;
};

class LeastFinish {
 public:
  LeastFinish(const Runs& runs, int micro_batches, bool narrow)
      : runs_(runs),
        rates_(runs.rates()),
        narrow_(narrow),
        open_(static_cast<std::size_t>(rates_.levels())),
        aside_(static_cast<std::size_t>(rates_.levels())),
        shortest_(runs.size() - 1) {
    const Filled empty{.left = Counts(static_cast<std::size_t>(runs.size()), 0),
                       .gpus_left = rates_.gpus().count};
    made_.assign(static_cast<std::size_t>(micro_batches), empty);
  }

  /// Places one sequence. Returns whether there was room.
  bool place(int run) {
    Choice best;
    for (int level = rates_.least_level(); level < rates_.levels(); ++level) join(run, level, best);
    open(run, best);
    if (best.end == std::numeric_limits<double>::infinity()) return false;
    if (best.group < 0) {
      best.group = static_cast<int>(places_.size());
      Filled& filled = made_[best.micro_batch];
      places_.emplace_back(best.micro_batch, filled.groups.size());
      filled.groups.push_back({.level = best.level, .time = rates_.fixed(best.level)});
      filled.gpus_left -= 1 << best.level;
    }
    put(run, best.group);
    return true;
  }

  std::vector<Filled> made() && {
    std::erase_if(made_, [](const Filled& filled) { return filled.groups.empty(); });
    return std::move(made_);
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;  ///< micro-batch, group in it

  [[nodiscard]] OpenGroup& group_at(int group) {
    const auto& [micro_batch, number] = places_[static_cast<std::size_t>(group)];
    return made_[micro_batch].groups[number];
  }

  /// Tokens that a group still takes.
  [[nodiscard]] std::int64_t room(const OpenGroup& group) const {
    if (group.sequences >= rates_.most_sequences()) return 0;
    return rates_.capacity(group.level) - group.tokens;
  }
  [[nodiscard]] bool holds(const OpenGroup& group, int run) const {
    return room(group) >= runs_.tokens(run, group.level);
  }

  /// Runs come longest first: a group without room for a sequence is set aside until one comes that
  /// it holds.
  void join(int run, int level, Choice& best) {
    auto& open = open_[static_cast<std::size_t>(level)];
    auto& aside = aside_[static_cast<std::size_t>(level)];
    const std::int64_t tokens = runs_.tokens(run, level);
    for (; !aside.empty() && aside.rbegin()->first >= tokens; aside.erase(std::prev(aside.end()))) {
      const int group = aside.rbegin()->second;
      open.emplace(group_at(group).time, group);
    }
    for (; !open.empty(); open.erase(open.begin())) {
      const auto [time, group] = *open.begin();
      const double end = time + runs_.time(run, level);
      if (end >= best.end) return;
      const std::int64_t left = room(group_at(group));
      if (left >= tokens) {
        best = {.end = end, .group = group, .level = level};
        return;
      }
      aside.emplace(left, group);
    }
  }

  void open(int run, Choice& best) {
    while (full_ < made_.size() && made_[full_].gpus_left == 0) ++full_;
    for (int level = rates_.least_level(); level < rates_.levels(); ++level) {
      const double end = rates_.fixed(level) + runs_.time(run, level);
      if (end == std::numeric_limits<double>::infinity()) continue;
      const auto has_room = [&](const Filled& filled) { return filled.gpus_left >= 1 << level; };
      const auto at =
          std::find_if(made_.begin() + static_cast<std::ptrdiff_t>(full_), made_.end(), has_room);
      if (at == made_.end()) return;
      if (end < best.end) {
        best = {.end = end,
                .micro_batch = static_cast<std::size_t>(at - made_.begin()),
                .level = level};
      }
      if (narrow_) return;
    }
  }

  void put(int run, int number) {
    OpenGroup& group = group_at(number);
    auto& open = open_[static_cast<std::size_t>(group.level)];
    open.erase({group.time, number});
    group.time += runs_.time(run, group.level);
    group.tokens += runs_.tokens(run, group.level);
    ++group.sequences;
    const auto& [micro_batch, place] = places_[static_cast<std::size_t>(number)];
    made_[micro_batch].parts.push_back({static_cast<int>(place), run, 1});
    // A group that not even the shortest sequence fits into is not looked at again.
    if (holds(group, shortest_)) open.emplace(group.time, number);
  }

  const Runs& runs_;
  const Rates& rates_;
  bool narrow_;
  std::vector<std::set<std::pair<double, int>>> open_;         ///< by level, groups by their time
  std::vector<std::set<std::pair<std::int64_t, int>>> aside_;  ///< by level, groups by their room
  std::vector<Place> places_{};
  std::vector<Filled> made_{};
  std::size_t full_ = 0;  ///< micro-batches before this one have no GPU left
  int shortest_;
};

}  // namespace

std::vector<Filled> least_finish(const Runs& runs, int micro_batches, bool narrow) {
  LeastFinish planner(runs, micro_batches, narrow);
  for (int run = 0; run < runs.size(); ++run) {
    for (int i = 0; i < runs.count(run); ++i) {
      if (!planner.place(run)) return {};
    }
  }
  return std::move(planner).made();
}

}  // namespace overlaptune
