#include "planner/least_finish.hpp"

#include <cstddef>
#include <limits>

namespace overlaptune {
namespace {

/// Where a sequence would go.
struct Choice {
  double end = std::numeric_limits<double>::infinity();
  std::size_t micro_batch = 0;
  int group = -1;  ///< of the micro-batch; -1: a new one
  int level = 0;
};

class LeastFinish {
 public:
  LeastFinish(const Runs& runs, int micro_batches, bool narrow) : runs_(runs), narrow_(narrow) {
    const Filled empty{.left = Counts(static_cast<std::size_t>(runs.size()), 0),
                       .gpus_left = runs.rates().gpus().count};
    made_.assign(static_cast<std::size_t>(micro_batches), empty);
  }

  /// Places one sequence. Returns whether there was room.
  bool place(int run) {
    Choice best;
    for (std::size_t i = 0; i < made_.size(); ++i) {
      join(i, run, best);
      open(i, run, best);
    }
    if (best.end == std::numeric_limits<double>::infinity()) return false;
    Filled& filled = made_[best.micro_batch];
    if (best.group < 0) {
      best.group = static_cast<int>(filled.groups.size());
      filled.groups.push_back({.level = best.level});
      filled.gpus_left -= 1 << best.level;
    }
    OpenGroup& group = filled.groups[static_cast<std::size_t>(best.group)];
    group.time = best.end;
    group.tokens += runs_.length(run);
    filled.parts.push_back({best.group, run, 1});
    return true;
  }

  std::vector<Filled> made() && {
    std::erase_if(made_, [](const Filled& filled) { return filled.groups.empty(); });
    return std::move(made_);
  }

 private:
  void join(std::size_t micro_batch, int run, Choice& best) const {
    const std::vector<OpenGroup>& groups = made_[micro_batch].groups;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const OpenGroup& group = groups[i];
      const double end = group.time + runs_.time(run, group.level);
      const std::int64_t tokens = group.tokens + runs_.length(run);
      if (end >= best.end || tokens > runs_.rates().capacity(group.level)) continue;
      best = {end, micro_batch, static_cast<int>(i), group.level};
    }
  }

  void open(std::size_t micro_batch, int run, Choice& best) const {
    const Rates& rates = runs_.rates();
    for (int level = 0; level < rates.levels(); ++level) {
      if (rates.capacity(level) < runs_.length(run)) continue;
      if ((1 << level) > made_[micro_batch].gpus_left) return;
      const double end = rates.fixed(level) + runs_.time(run, level);
      if (end < best.end) best = {end, micro_batch, -1, level};
      if (narrow_) return;
    }
  }

  const Runs& runs_;
  bool narrow_;
  std::vector<Filled> made_{};
};

}  // namespace

std::vector<Filled> least_finish(const Runs& runs, int micro_batches, bool narrow) {
  LeastFinish planner(runs, micro_batches, narrow);
  for (int run = 0; run < runs.size(); ++run) {
    for (int i = 0; i < runs.counts()[static_cast<std::size_t>(run)]; ++i) {
      if (!planner.place(run)) return {};
    }
  }
  return std::move(planner).made();
}

}  // namespace overlaptune
