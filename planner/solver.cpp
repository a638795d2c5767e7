#include "planner/solver.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "planner/assemble.hpp"
#include "planner/buckets.hpp"
#include "planner/exact.hpp"
#include "planner/least_finish.hpp"
#include "planner/lower_bound.hpp"
#include "planner/refine.hpp"
#include "planner/targets.hpp"

namespace overlaptune {
namespace {

constexpr int kPackSteps = 12;           // of bisection, for a micro-batch that stays
constexpr int kMoreMicroBatches = 2;     // than the memory needs, that are tried
constexpr std::size_t kMostTargets = 2;  // of the bucketed lengths that are tried on exact ones
constexpr double kWorthTrying = 1.005;   // times the best plan, with rounded lengths
constexpr double kGoodEnough = 1.04;     // times the bound
constexpr double kNever = std::numeric_limits<double>::infinity();

int sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0);
}

struct Draft {
  std::vector<Filled> micro_batches{};
  double time = kNever;
  std::int64_t added_tokens = 0;  ///< by the buckets that it was found with
};

class Solver {
 public:
  Solver(const Runs& runs, const SolverOptions& options) : runs_(runs), options_(options) {}

  Draft solve() {
    const int fewest = fewest_micro_batches(runs_, runs_.counts());
    const int most = std::max(fewest, sum_of(runs_.counts()));  // one sequence each always fits
    for (int parts = fewest; parts <= most; ++parts) {
      if (best_.time < kNever && (parts > fewest + kMoreMicroBatches ||
                                  lower_bound(runs_, runs_.counts(), parts) >= best_.time)) {
        break;
      }
      attempt(parts);
    }
    if (best_.time == kNever) one_each();
    if (sum_of(runs_.counts()) <= kMostRefined)
      best_.micro_batches = refine(runs_, best_.micro_batches);
    return std::move(best_);
  }

 private:
  void attempt(int parts) {
    // At least two parts, so that the few long sequences have buckets of their own.
    const Buckets buckets = cut_and_bucketed(runs_.list(), std::max(parts, 2), options_.buckets);
    const Runs coarse(runs_.rates(), buckets.runs);
    // Rarely the best, but then no simple planner is better.
    double best = kNever;
    for (const bool narrow : {false, true}) {
      best = std::min(best, keep(least_finish(runs_, parts, narrow), buckets.added_tokens));
    }
    const double bound = lower_bound(runs_, runs_.counts(), parts);
    // Wider groups waste less memory, and cost little more as long as they stay in a node.
    for (int level = 0; (1 << level) <= runs_.rates().gpus().per_node; ++level) {
      if (best < bound * kGoodEnough) break;
      std::vector<Targets> targets = search_targets(coarse, parts, level);
      // Rounding lengths up may have made them too many for the memory.
      if (targets.empty()) targets = search_targets(runs_, parts, level);
      for (std::size_t i = 0; i < std::min(targets.size(), kMostTargets); ++i) {
        if (targets[i].sum > best_.time * kWorthTrying) break;
        best = std::min(best, keep(exact(targets[i]), buckets.added_tokens));
      }
    }
  }

  /// The micro-batches that these targets give on exact lengths.
  [[nodiscard]] std::vector<Filled> exact(const Targets& targets) const {
    Filler filler(runs_, targets.least_level);
    std::vector<Filled> made;
    Counts left = runs_.counts();
    for (std::size_t part = 0; part + 1 < targets.times.size() && sum_of(left) > 0; ++part) {
      Filled filled;
      filler.fill(left, targets.times[part], filled);
      if (filled.groups.empty()) return {};
      left = filled.left;
      Filled packed = pack(runs_, filled.taken(runs_.size()), kPackSteps, targets.least_level);
      const bool better = !packed.groups.empty() && packed.time() < filled.time();
      made.push_back(better ? std::move(packed) : std::move(filled));
    }
    if (sum_of(left) > 0) made.push_back(pack(runs_, left, kPackSteps, targets.least_level));
    return made;
  }

  /// Every sequence in a micro-batch of its own: the plan that always exists.
  void one_each() {
    std::vector<Filled> made;
    for (int run = 0; run < runs_.size(); ++run) {
      Counts counts(static_cast<std::size_t>(runs_.size()), 0);
      counts[static_cast<std::size_t>(run)] = 1;
      made.insert(made.end(),
                  static_cast<std::size_t>(runs_.counts()[static_cast<std::size_t>(run)]),
                  pack(runs_, counts, kPackSteps));
    }
    keep(std::move(made), 0);
  }

  /// Keeps the micro-batches if they are the best so far; returns their time.
  double keep(std::vector<Filled> made, std::int64_t added_tokens) {
    double time = made.empty() ? kNever : 0;
    for (const Filled& part : made) time += part.groups.empty() ? kNever : part.time();
    if (time < best_.time) {
      best_ = {.micro_batches = std::move(made), .time = time, .added_tokens = added_tokens};
    }
    return time;
  }

  const Runs& runs_;
  SolverOptions options_;
  Draft best_{};
};

}  // namespace

BatchPlan plan_batch(const Rates& rates, std::span<const std::int64_t> lengths,
                     const SolverOptions& options) {
  const Runs runs(rates, runs_of(lengths));
  const Draft draft = Solver(runs, options).solve();
  BatchPlan plan = plan_of(runs, draft.micro_batches);
  plan.bucket_error = static_cast<double>(draft.added_tokens) / static_cast<double>(plan.tokens);
  plan.lower_bound_us = batch_lower_bound(runs);
  return plan;
}

}  // namespace overlaptune
