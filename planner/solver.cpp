#include "planner/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "planner/assemble.hpp"
#include "planner/buckets.hpp"
#include "planner/cut.hpp"
#include "planner/exact.hpp"
#include "planner/improve.hpp"
#include "planner/lower_bound.hpp"
#include "planner/pack.hpp"

namespace overlaptune {
namespace {

constexpr int kCoarseSteps = 5;       // of bisection, while targets are searched
constexpr int kFineSteps = 12;        // of bisection, for a micro-batch that stays
constexpr int kLocalSteps = 400;      // of local search
constexpr int kSmall = 32;            // sequences of a micro-batch that is searched exactly
constexpr long kNodes = 100'000;      // of that search
constexpr int kMoreMicroBatches = 2;  // than seem needed, that are tried

double time_of(const std::vector<Filled>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0,
                         [](double sum, const Filled& part) { return sum + part.time(); });
}

class Solver {
 public:
  Solver(const Rates& rates, std::span<const Run> runs, const SolverOptions& options)
      : rates_(rates), runs_(runs), options_(options) {
    for (const Run& run : runs) all_.push_back(run.count);
  }

  std::vector<Filled> solve() {
    const int fewest = fewest_micro_batches(rates_, runs_);
    const int most = std::max(fewest, sequences());  // one sequence each always fits
    for (int parts = fewest; parts <= most; ++parts) {
      if (!best_.empty() &&
          (parts > fewest + kMoreMicroBatches || parts * rates_.fixed(0) >= best_time_)) {
        break;
      }
      attempt(parts);
    }
    if (best_.empty()) one_by_one();
    if (sequences() <= kSmall) exchange_between();
    return std::move(best_);
  }

  [[nodiscard]] std::int64_t bucket_error() const { return best_error_; }

 private:
  [[nodiscard]] int sequences() const { return std::accumulate(all_.begin(), all_.end(), 0); }

  /// Every sequence in a micro-batch of its own: the plan that always exists.
  void one_by_one() {
    std::vector<Filled> made;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      Counts counts(runs_.size(), 0);
      counts[run] = 1;
      made.insert(made.end(), static_cast<std::size_t>(runs_[run].count), finished(counts));
    }
    keep(std::move(made));
  }

  /// Plans with a number of micro-batches: a cut, a plan of each part on bucketed lengths for its
  /// target, then all targets searched on exact lengths.
  void attempt(int parts) {
    const auto cut = best_cut(rates_, runs_, parts);
    if (!cut) return;
    error_ = 0;
    std::vector<double> targets;
    std::vector<Filled> made;
    bool whole = true;
    for (const Counts& counts : *cut) {
      const Buckets buckets = bucketed(runs_, counts, options_.buckets);
      error_ += buckets.error_tokens;
      Counts bucket_counts;
      for (const Run& bucket : buckets.runs) bucket_counts.push_back(bucket.count);
      const Filled coarse = pack(rates_, buckets.runs, bucket_counts, kCoarseSteps);
      const double bound = micro_batch_bound(rates_, runs_, counts);
      targets.push_back(coarse.groups.empty() ? bound * 1.05 : coarse.time());
      made.push_back(finished(counts));
      whole = whole && !made.back().groups.empty();
    }
    if (whole) keep(std::move(made));
    if (parts == 1) return;
    search_targets(targets);
    // The first target decides how wide the group of the longest sequence is: each width once.
    const std::int64_t longest = runs_.front().length;
    for (int level = 0; level < rates_.levels(); ++level) {
      if (rates_.capacity(level) < longest) continue;
      targets.front() = (rates_.fixed(level) + rates_.time(longest, level)) * (1 + 1e-9);
      search_targets(targets);
    }
  }

  /// Coordinate search: each target is scaled by some factors; the last micro-batch takes the rest.
  void search_targets(std::vector<double> targets) {
    double best = filled_time(targets);
    for (const double reach : {0.16, 0.04, 0.01}) {
      for (std::size_t part = 0; part + 1 < targets.size(); ++part) {
        const double middle = targets[part];
        for (const int step : {-3, -2, -1, 1, 2, 3}) {
          std::vector<double> other = targets;
          other[part] = middle * (1 + step * reach);
          const double time = filled_time(other);
          if (time >= best) continue;
          best = time;
          targets = std::move(other);
        }
      }
    }
    if (std::isfinite(best)) finish_filled(targets);
  }

  /// Sum of the micro-batches where each but the last is filled to its target.
  double filled_time(const std::vector<double>& targets) {
    Counts left = all_;
    double sum = 0;
    for (std::size_t part = 0; part + 1 < targets.size(); ++part) {
      fill(rates_, runs_, left, targets[part], Fit::first, scratch_);
      if (scratch_.groups.empty()) return std::numeric_limits<double>::infinity();
      sum += scratch_.time();
      std::swap(left, scratch_.left);
    }
    const Filled last = pack(rates_, runs_, left, kCoarseSteps);
    if (last.groups.empty()) {
      return std::count(left.begin(), left.end(), 0) == std::ssize(left)
                 ? sum
                 : std::numeric_limits<double>::infinity();
    }
    return sum + last.time();
  }

  void finish_filled(const std::vector<double>& targets) {
    Counts left = all_;
    std::vector<Filled> made;
    for (std::size_t part = 0; part + 1 < targets.size(); ++part) {
      fill(rates_, runs_, left, targets[part], Fit::first, scratch_);
      Counts taken = left;
      for (std::size_t run = 0; run < left.size(); ++run) taken[run] -= scratch_.left[run];
      left = scratch_.left;
      Filled again = finished(taken);
      if (again.groups.empty() || again.time() > scratch_.time()) {
        again = scratch_;
        improve(rates_, runs_, kLocalSteps, again);
      }
      made.push_back(std::move(again));
    }
    if (std::any_of(left.begin(), left.end(), [](int count) { return count > 0; })) {
      made.push_back(finished(left));
    }
    keep(std::move(made));
  }

  /// The best micro-batch of these sequences. No groups: they do not fit into one.
  [[nodiscard]] Filled finished(const Counts& counts) const {
    Filled made = pack(rates_, runs_, counts, kFineSteps);
    improve(rates_, runs_, kLocalSteps, made);
    if (std::accumulate(counts.begin(), counts.end(), 0) <= kSmall) {
      branch_and_bound(rates_, runs_, counts, kNodes, made);
    }
    return made;
  }

  void keep(std::vector<Filled> made) {
    const bool whole = std::none_of(made.begin(), made.end(),
                                    [](const Filled& part) { return part.groups.empty(); });
    const double time = time_of(made);
    if (!whole || (!best_.empty() && time >= best_time_)) return;
    best_ = std::move(made);
    best_time_ = time;
    best_error_ = error_;
  }

  /// Few sequences: each is tried in every other micro-batch, alone or in exchange for another.
  void exchange_between() {
    bool better = best_.size() > 1;
    while (better) {
      better = false;
      const std::vector<Counts> counts = counts_of_best();
      for (std::size_t a = 0; a < counts.size() && !better; ++a) {
        for (std::size_t b = 0; b < counts.size() && !better; ++b) {
          if (a != b) better = exchange(counts, a, b);
        }
      }
    }
  }

  bool exchange(const std::vector<Counts>& counts, std::size_t a, std::size_t b) {
    const int runs = static_cast<int>(runs_.size());
    for (int run = 0; run < runs; ++run) {
      if (counts[a][static_cast<std::size_t>(run)] == 0) continue;
      for (int back = run; back < runs; ++back) {  // `run` itself stands for none
        if (back > run && counts[b][static_cast<std::size_t>(back)] == 0) continue;
        Counts from = counts[a];
        Counts to = counts[b];
        --from[static_cast<std::size_t>(run)];
        ++to[static_cast<std::size_t>(run)];
        if (back > run) {
          ++from[static_cast<std::size_t>(back)];
          --to[static_cast<std::size_t>(back)];
        }
        if (replace(a, b, from, to)) return true;
      }
    }
    return false;
  }

  /// Replaces two micro-batches if the result is better.
  bool replace(std::size_t a, std::size_t b, const Counts& from, const Counts& to) {
    const double before = best_[a].time() + best_[b].time();
    const auto bound = [&](const Counts& counts) {
      return std::all_of(counts.begin(), counts.end(), [](int count) { return count == 0; })
                 ? 0.0
                 : micro_batch_bound(rates_, runs_, counts);
    };
    if (bound(from) + bound(to) >= before) return false;
    std::vector<Filled> made = best_;
    made[b] = finished(to);
    if (made[b].groups.empty() || made[b].time() + bound(from) >= before * (1 - 1e-9)) return false;
    if (bound(from) == 0) {
      made.erase(made.begin() + static_cast<std::ptrdiff_t>(a));
    } else {
      made[a] = finished(from);
      if (made[a].groups.empty()) return false;
    }
    if (time_of(made) >= best_time_ * (1 - 1e-9)) return false;
    keep(std::move(made));
    return true;
  }

  [[nodiscard]] std::vector<Counts> counts_of_best() const {
    std::vector<Counts> list;
    for (const Filled& part : best_) {
      Counts& counts = list.emplace_back(runs_.size(), 0);
      for (const Part& own : part.parts) counts[static_cast<std::size_t>(own.run)] += own.count;
    }
    return list;
  }

  const Rates& rates_;
  std::span<const Run> runs_;
  SolverOptions options_;
  Counts all_{};
  Filled scratch_{};
  std::vector<Filled> best_{};
  double best_time_ = std::numeric_limits<double>::infinity();
  std::int64_t error_ = 0;
  std::int64_t best_error_ = 0;
};

}  // namespace

BatchPlan plan_batch(const Rates& rates, std::span<const std::int64_t> lengths,
                     const SolverOptions& options) {
  const std::vector<Run> runs = runs_of(lengths);
  Solver solver(rates, runs, options);
  BatchPlan plan;
  for (const Filled& part : solver.solve()) {
    plan.micro_batches.push_back(micro_batch_of(rates, runs, part));
  }
  add_up(rates, plan);
  plan.bucket_error_tokens = solver.bucket_error();
  plan.lower_bound_us = batch_bound(rates, runs);
  return plan;
}

}  // namespace overlaptune
