#include "planner/exact.hpp"

#include <algorithm>
#include <limits>

#include "planner/lower_bound.hpp"

namespace overlaptune {
namespace {

constexpr double kOptimal = 1 - 1e-4;  // a plan must be this much better to count

/// Sequences are placed one by one, longest first, into open groups or a new one. A node is cut off
/// where the GPU time of what is placed, of what is still to come (at its least) and of groups that
/// nothing fits into any more exceeds what all GPUs have before the best time.
class Tree {
 public:
  Tree(const Rates& rates, std::span<const Run> runs, std::span<const int> counts, long nodes,
       Filled& best)
      : rates_(rates), best_(best), nodes_(nodes), gpus_left_(rates.gpus()) {
    target_ =
        best.groups.empty() ? std::numeric_limits<double>::infinity() : best.time() * kOptimal;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      for (int i = 0; i < counts[run]; ++i)
        items_.push_back(item(runs[run], static_cast<int>(run)));
    }
    to_come_.assign(items_.size() + 1, 0);
    for (std::size_t i = items_.size(); i-- > 0;) to_come_[i] = to_come_[i + 1] + items_[i].area;
    fixed_ = rates.fixed(0);
    for (int level = 1; level < rates.levels(); ++level)
      fixed_ = std::min(fixed_, rates.fixed(level));
    groups_.reserve(static_cast<std::size_t>(rates.gpus()));
    place_.assign(items_.size(), -1);
  }

  /// Returns whether all nodes were visited.
  bool search() {
    visit(0);
    return nodes_ > 0;
  }

 private:
  struct Item {
    std::int64_t length = 0;
    int run = 0;
    double area = 0;
    std::vector<double> times{};  ///< by level; infinite where the memory does not hold it
  };

  [[nodiscard]] Item item(const Run& run, int index) const {
    Item made{.length = run.length, .run = index, .area = least_area(rates_, run.length)};
    for (int level = 0; level < rates_.levels(); ++level) {
      made.times.push_back(rates_.capacity(level) < run.length
                               ? std::numeric_limits<double>::infinity()
                               : rates_.time(run.length, level));
    }
    return made;
  }
  [[nodiscard]] double time(std::size_t i, int level) const {
    return items_[i].times[static_cast<std::size_t>(level)];
  }

  /// Whether GPU time suffices for the sequences from `i` on.
  [[nodiscard]] bool may_fit(std::size_t i) const {
    const Item& shortest = items_.back();
    double free = gpus_left_ * (target_ - fixed_);
    for (const OpenGroup& group : groups_) {
      const bool open =
          group.time + shortest.times[static_cast<std::size_t>(group.level)] < target_ &&
          group.tokens + shortest.length <= rates_.capacity(group.level);
      if (open) free += (1 << group.level) * (target_ - group.time);
    }
    return free >= to_come_[i];
  }

  void keep() {
    best_.groups = groups_;
    best_.gpus_left = gpus_left_;
    best_.parts.clear();
    for (std::size_t i = 0; i < items_.size(); ++i) {
      best_.parts.push_back({place_[i], items_[i].run, 1});
    }
    std::fill(best_.left.begin(), best_.left.end(), 0);
    target_ = best_.time() * kOptimal;
  }

  void visit(std::size_t i) {
    if (--nodes_ <= 0) return;
    if (i == items_.size()) return keep();
    if (!may_fit(i)) return;
    for (std::size_t g = 0; g < groups_.size(); ++g) join(i, g);
    for (int level = 0; level < rates_.levels(); ++level) open(i, level);
  }

  void join(std::size_t i, std::size_t g) {
    // An equal sequence before this one took an equal or earlier group: orders do not matter.
    if (i > 0 && items_[i].run == items_[i - 1].run && static_cast<int>(g) < place_[i - 1]) return;
    for (std::size_t twin = 0; twin < g; ++twin) {
      if (groups_[twin].level == groups_[g].level && groups_[twin].tokens == groups_[g].tokens &&
          groups_[twin].time == groups_[g].time) {
        return;
      }
    }
    const OpenGroup before = groups_[g];
    const double after = before.time + time(i, before.level);
    if (after >= target_ || before.tokens + items_[i].length > rates_.capacity(before.level))
      return;
    groups_[g].time = after;
    groups_[g].tokens += items_[i].length;
    place_[i] = static_cast<int>(g);
    visit(i + 1);
    groups_[g] = before;
  }

  void open(std::size_t i, int level) {
    const double after = rates_.fixed(level) + time(i, level);
    if ((1 << level) > gpus_left_ || after >= target_) return;
    gpus_left_ -= 1 << level;
    place_[i] = static_cast<int>(groups_.size());
    groups_.push_back({level, after, items_[i].length});
    visit(i + 1);
    groups_.pop_back();
    gpus_left_ += 1 << level;
  }

  const Rates& rates_;
  Filled& best_;
  long nodes_;
  int gpus_left_;
  double target_ = 0;
  double fixed_ = 0;
  std::vector<Item> items_{};
  std::vector<double> to_come_{};  ///< least GPU time of the sequences from i on
  std::vector<OpenGroup> groups_{};
  std::vector<int> place_{};
};

}  // namespace

bool branch_and_bound(const Rates& rates, std::span<const Run> runs, std::span<const int> counts,
                      long nodes, Filled& best) {
  if (best.left.size() != runs.size()) best.left.assign(runs.size(), 0);
  return Tree(rates, runs, counts, nodes, best).search();
}

}  // namespace overlaptune
