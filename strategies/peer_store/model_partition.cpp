#include "strategies/peer_store/model_partition.hpp"

#include <algorithm>
#include <limits>

namespace overlaptune {
namespace {

/// Groups of about this many waves.
std::vector<std::size_t> equal_groups(const StoreProblem& problem, std::int64_t waves) {
  const std::int64_t tiles = waves * problem.sms;
  std::vector<std::size_t> ends;
  std::int64_t begin = 0;
  for (std::size_t cut = 1; cut < problem.cuts.size(); ++cut) {
    // Cuts lie at whole columns, and so a little before the ends of waves.
    if (cut + 1 < problem.cuts.size() && problem.cuts[cut + 1] - begin <= tiles) continue;
    ends.push_back(cut);
    begin = problem.cuts[cut];
  }
  return ends;
}

/// A state after a group, and how it was reached.
struct Node {
  StoreState state{};
  std::size_t begin = 0;  ///< cuts of the group
  std::size_t end = 0;
  std::size_t parent = 0;
};

class StoreSearch {
 public:
  StoreSearch(const StoreProblem& problem, double limit)
      : problem_(problem), last_(problem.cuts.size() - 1), best_{.time = limit} {
    const double per_tile = problem.all_sent() / static_cast<double>(problem.tiles());
    for (const std::int64_t cut : problem.cuts) {
      left_.push_back(per_tile * static_cast<double>(problem.tiles() - cut));
    }
    ends_ = ends_of_last_groups();
  }

  [[nodiscard]] StorePartition solve() {
    const StoreState first = first_state(problem_);
    if (bound(first, 0) >= best_.time) return std::move(best_);
    best_ = best_equal_stores(problem_, best_.time);
    fronts_.resize(problem_.own_later ? last_ * (last_ + 1) / 2 + 1 : last_);
    add({.state = first});
    for (std::size_t cut = 0; cut < last_; ++cut) {
      // Without `own_later` it does not matter where the group before began.
      const std::size_t fronts = problem_.own_later ? std::max<std::size_t>(1, cut) : 1;
      for (std::size_t before = 0; before < fronts; ++before) {
        steps_.clear();
        for (const std::size_t at : fronts_[front_of(before, cut)]) extend(at);
      }
    }
    return std::move(best_);
  }

 private:
  /// The least end of everything, by the cut where a group begins.
  [[nodiscard]] std::vector<double> ends_of_last_groups() const {
    const double multiplied = problem_.produced(problem_.tiles());
    const double shown = problem_.sum_sent > 0 ? problem_.signal + problem_.fetch : 0;
    std::vector<double> ends(last_ + 1, multiplied + shown);
    if (problem_.own_later) return ends;
    // The last group begins at a cut or at a later one. Without delays, and with links that are
    // free, it ends then at the earliest.
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const StoreState earliest{.delay = 0, .link = -kNever, .arrived = -kNever};
    double least = kNever;
    for (std::size_t cut = last_; cut-- > 0;) {
      const StoreStep step = advance(problem_, earliest, {cut, cut, last_});
      least = std::min(least, end_of(problem_, step));
      ends[cut] = least;
    }
    return ends;
  }

  /// A lower bound on the end of any partition with this state at this cut.
  [[nodiscard]] double bound(const StoreState& state, std::size_t cut) const {
    return std::max(ends_[cut] + state.delay,
                    state.link + left_[cut] + problem_.signal + problem_.fetch);
  }

  [[nodiscard]] std::size_t front_of(std::size_t begin, std::size_t end) const {
    return problem_.own_later && end > 0 ? end * (end - 1) / 2 + begin + 1 : end;
  }

  /// Appends one more group to a node, in every possible way.
  void extend(std::size_t at) {
    const Node from = nodes_[at];
    if (bound(from.state, from.end) >= best_.time) return;
    for (std::size_t end = from.end + 1; end <= last_; ++end) {
      const std::size_t number = end - from.end - 1;
      if (number == steps_.size()) steps_.push_back({problem_, {from.begin, from.end, end}});
      const StoreStep step = advance(problem_, from.state, steps_[number]);
      if (end == last_) {
        close(end_of(problem_, finish(problem_, step, from.end)), at);
      } else if (bound(step.state, end) < best_.time) {
        add({.state = step.state, .begin = from.end, .end = end, .parent = at});
      }
    }
  }

  /// Keeps a node unless another one is ahead of it.
  void add(const Node& node) {
    std::vector<std::size_t>& front = fronts_[front_of(node.begin, node.end)];
    const auto ahead = [&](const StoreState& a, const StoreState& b) {
      return a.delay <= b.delay && a.link <= b.link &&
             (!problem_.own_later || a.arrived <= b.arrived);
    };
    for (const std::size_t at : front) {
      if (ahead(nodes_[at].state, node.state)) return;
    }
    std::erase_if(front, [&](std::size_t at) { return ahead(node.state, nodes_[at].state); });
    front.push_back(nodes_.size());
    nodes_.push_back(node);
  }

  void close(double time, std::size_t parent) {
    if (time >= best_.time) return;
    best_.time = time;
    best_.ends = {last_};
    for (std::size_t at = parent; nodes_[at].end != 0; at = nodes_[at].parent) {
      best_.ends.push_back(nodes_[at].end);
    }
    std::reverse(best_.ends.begin(), best_.ends.end());
  }

  const StoreProblem& problem_;
  std::size_t last_;
  StorePartition best_;
  std::vector<double> left_{};  // time of the links for what comes after a cut
  std::vector<double> ends_{};
  std::vector<std::vector<std::size_t>> fronts_{};
  std::vector<PreparedStep> steps_{};  // those that follow the nodes of one front
  std::vector<Node> nodes_{};
};

}  // namespace

double store_time(const StoreProblem& problem, std::span<const std::size_t> ends) {
  StoreStep step{.state = first_state(problem)};
  StoreCuts cuts;
  for (const std::size_t end : ends) {
    cuts = {cuts.begin, cuts.end, end};
    step = advance(problem, step.state, cuts);
  }
  return end_of(problem, finish(problem, step, cuts.begin));
}

StorePartition best_equal_stores(const StoreProblem& problem, double limit) {
  StorePartition best{.time = limit};
  for (std::int64_t waves = 1;; waves *= 2) {
    std::vector<std::size_t> ends = equal_groups(problem, waves);
    const std::size_t groups = ends.size();
    const double time = store_time(problem, ends);
    if (time < best.time) best = {time, std::move(ends)};
    if (groups == 1) return best;
  }
}

StorePartition best_stores(const StoreProblem& problem, double limit) {
  if (problem.least_time() >= limit) return {.time = limit};
  return StoreSearch(problem, limit).solve();
}

}  // namespace overlaptune
