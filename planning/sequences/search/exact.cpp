#include "planning/sequences/search/exact.hpp"

#include <cstddef>

namespace overlaptune {
namespace {

constexpr double kOptimal = 1 - 1e-4;  // a plan must be this much better to count

/// Sequences are placed one by one, longest first, into open groups or a new one. A node is cut off
/// where the GPU time of what is placed, of what is still to come (at its least) and of groups that
/// nothing fits into any more exceeds what all GPUs have before the best time.
class Tree {
 public:
  Tree(const Runs& runs, std::span<const int> counts, long nodes, Filled& best)
      : runs_(runs),
        rates_(runs.rates()),
        best_(best),
        nodes_(nodes),
        gpus_left_(rates_.gpus().count),
        fixed_(rates_.least_fixed()),
        items_(each_of(counts)) {
    target_ = best.groups.empty() ? kNever : best.time() * kOptimal;
    to_come_.assign(items_.size() + 1, 0);
    for (std::size_t i = items_.size(); i-- > 0;) {
      to_come_[i] = to_come_[i + 1] + runs.least_area(items_[i]);
    }
    place_.assign(items_.size(), -1);
  }

  /// Returns whether all nodes were visited.
  bool search() {
    visit(0);
    return nodes_ > 0;
  }

 private:
  /// Whether GPU time suffices for the sequences from `i` on.
  [[nodiscard]] bool may_fit(std::size_t i) const {
    const int shortest = items_.back();
    // Without a plan the target is infinite, and none of it is left on no GPU.
    double free = gpus_left_ > 0 ? gpus_left_ * (target_ - fixed_) : 0;
    for (const OpenGroup& group : groups_) {
      const bool open =
          group.time + runs_.time(shortest, group.level) < target_ &&
          group.sequences < rates_.most_sequences() &&
          group.tokens + runs_.tokens(shortest, group.level) <= rates_.capacity(group.level);
      if (open) free += (1 << group.level) * (target_ - group.time);
    }
    return free >= to_come_[i];
  }

  void keep() {
    best_.groups = groups_;
    best_.gpus_left = gpus_left_;
    best_.parts.clear();
    for (std::size_t i = 0; i < items_.size(); ++i) {
      best_.parts.push_back({place_[i], items_[i], 1});
    }
    best_.left.assign(static_cast<std::size_t>(runs_.size()), 0);
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
    if (i > 0 && items_[i] == items_[i - 1] && static_cast<int>(g) < place_[i - 1]) return;
    for (std::size_t twin = 0; twin < g; ++twin) {
      if (groups_[twin] == groups_[g]) return;
    }
    const OpenGroup before = groups_[g];
    const double after = before.time + runs_.time(items_[i], before.level);
    const std::int64_t tokens = before.tokens + runs_.tokens(items_[i], before.level);
    if (after >= target_ || tokens > rates_.capacity(before.level)) return;
    if (before.sequences == rates_.most_sequences()) return;
    groups_[g] = {before.level, after, tokens, before.sequences + 1};
    place_[i] = static_cast<int>(g);
    visit(i + 1);
    groups_[g] = before;
  }

  void open(std::size_t i, int level) {
    const double after = rates_.fixed(level) + runs_.time(items_[i], level);
    if ((1 << level) > gpus_left_ || after >= target_) return;
    gpus_left_ -= 1 << level;
    place_[i] = static_cast<int>(groups_.size());
    groups_.push_back({level, after, runs_.tokens(items_[i], level), 1});
    visit(i + 1);
    groups_.pop_back();
    gpus_left_ += 1 << level;
  }

  const Runs& runs_;
  const Rates& rates_;
  Filled& best_;
  long nodes_;
  int gpus_left_;
  double fixed_;
  double target_ = 0;
  std::vector<int> items_;         ///< the run of every sequence, longest first
  std::vector<double> to_come_{};  ///< least GPU time of the sequences from i on
  std::vector<OpenGroup> groups_{};
  std::vector<int> place_{};
};

}  // namespace

bool branch_and_bound(const Runs& runs, std::span<const int> counts, long nodes, Filled& best) {
  return Tree(runs, counts, nodes, best).search();
}

}  // namespace overlaptune
