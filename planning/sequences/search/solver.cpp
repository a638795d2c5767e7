#include "planning/sequences/search/solver.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "planning/sequences/search/assemble.hpp"
#include "planning/sequences/search/bins.hpp"
#include "planning/sequences/search/buckets.hpp"
#include "planning/sequences/search/exact.hpp"
#include "planning/sequences/search/lower_bound.hpp"
#include "planning/sequences/search/refine.hpp"
#include "planning/sequences/search/targets.hpp"
#include "planning/sequences/simple_plans.hpp"

namespace overlaptune {
namespace {

constexpr int kBuckets = 16;           // lengths that the first plan of a micro-batch tells apart
constexpr int kPackBisections = 12;    // of bisection, for a micro-batch that stays
constexpr int kFewerMicroBatches = 2;  // than the best simple plan has, that are tried
constexpr int kVain = 2;               // numbers of micro-batches that may be tried without a gain
constexpr int kMostTried = 6;          // numbers of micro-batches
constexpr std::size_t kMostSearched = 20'000;  // micro-batches times lengths
constexpr double kGain = 1 - 2e-3;
constexpr double kNearBound = 1.005;     // no search for less
constexpr std::size_t kMostTargets = 2;  // of the bucketed lengths that are tried on exact ones
constexpr double kWorthTrying = 1.005;   // times the best plan, with rounded lengths
constexpr double kGoodEnough = 1.04;     // times the bound

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
  explicit Solver(const Runs& runs) : runs_(runs) {}

  Draft solve() {
    for (int level = runs_.rates().least_level(); level < runs_.rates().levels(); ++level) {
      keep(simple_plan(runs_, level), 0);
    }
    if (best_.micro_batches.empty()) return {};
    const int fewest = fewest_micro_batches(runs_, runs_.counts());
    const int simple = static_cast<int>(best_.micro_batches.size());
    int last = fewest - 1;
    int left = kMostTried;
    for (const int from : {fewest, simple - kFewerMicroBatches}) {
      int vain = 0;
      for (int parts = std::max(from, last + 1); vain < kVain && left > 0; ++parts, --left) {
        const double bound = lower_bound(runs_, runs_.counts(), parts);
        if (bound * kNearBound >= best_.time) break;
        last = parts;
        const double before = best_.time;
        attempt(parts, bound);
        vain = best_.time < before * kGain ? 0 : vain + 1;
      }
    }
    if (sum_of(runs_.counts()) <= kMostRefined) keep(refine(runs_, best_.micro_batches), 0);
    return std::move(best_);
  }

 private:
  void attempt(int parts, double bound) {
    // At least two parts, so that the few long sequences have buckets of their own.
    const Buckets buckets = cut_and_bucketed(runs_.list(), std::max(parts, 2), kBuckets);
    const Runs coarse(runs_.rates(), buckets.runs);
    // Rarely the best, but then no simple planner is better.
    double best = kNever;
    for (const bool narrow : {false, true}) {
      best = std::min(best, keep(least_finish(runs_, parts, narrow), buckets.added_tokens));
    }
    const auto size = static_cast<std::size_t>(parts) * static_cast<std::size_t>(coarse.size());
    if (size > kMostSearched) return;
    // Wider groups waste less memory, and cost little more as long as they stay in a node.
    for (int level = runs_.rates().least_level();
         level < runs_.rates().levels() && (1 << level) <= runs_.rates().gpus().per_node; ++level) {
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
      Filled packed = pack(runs_, filled.taken(runs_.size()), kPackBisections, targets.least_level);
      const bool better = !packed.groups.empty() && packed.time() < filled.time();
      made.push_back(better ? std::move(packed) : std::move(filled));
    }
    if (sum_of(left) > 0) made.push_back(pack(runs_, left, kPackBisections, targets.least_level));
    return made;
  }

  /// Keeps the micro-batches if they are the best so far; returns their time.
  double keep(std::vector<Filled> made, std::int64_t added_tokens) {
    divide_to_multiple(runs_, made);
    const double time = time_of(made);
    if (time < best_.time) {
      best_ = {.micro_batches = std::move(made), .time = time, .added_tokens = added_tokens};
    }
    return time;
  }

  const Runs& runs_;
  Draft best_{};
};

}  // namespace

BatchPlan plan_batch(const Rates& rates, std::span<const std::int64_t> lengths) {
  const Runs runs(rates, runs_of(lengths));
  const Draft draft = Solver(runs).solve();
  if (draft.micro_batches.empty()) return {};
  BatchPlan plan = plan_of(runs, draft.micro_batches);
  plan.bucket_error = static_cast<double>(draft.added_tokens) / static_cast<double>(plan.tokens);
  plan.lower_bound_us = batch_lower_bound(runs);
  find_members(plan, lengths);
  return plan;
}

}  // namespace overlaptune
