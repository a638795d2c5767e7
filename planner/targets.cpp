#include "planner/targets.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "planner/lower_bound.hpp"

namespace overlaptune {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kPackSteps = 5;     // of bisection for the last micro-batch
constexpr int kCommonSteps = 8;   // of bisection for the common target
constexpr double kMostSlack = 4;  // times the bound: where the memory is too fragmented, give up
constexpr int kMostFills = 400;   // of micro-batches, while the targets of one start are varied
constexpr std::size_t kMostStarts = 2;  // whose targets are varied
constexpr double kWorthVarying = 1.03;  // times the best start
constexpr std::array kReaches{0.16, 0.04, 0.01};
constexpr std::array kSteps{-3, -2, -1, 1, 2, 3};

class Search {
 public:
  Search(const Runs& runs, int micro_batches, int least_level)
      : runs_(runs),
        micro_batches_(static_cast<std::size_t>(micro_batches)),
        least_level_(least_level),
        filler_(runs, least_level) {
    bound_ = lower_bound(runs, runs.counts(), micro_batches);
  }

  /// The least common target where the first micro-batch may take as long as the longest sequence
  /// on a level.
  Targets start(int level) { return common(runs_.rates().fixed(level) + runs_.time(0, level)); }

  /// Coordinate search: each target but the last is scaled by some factors.
  void vary(Targets& best) {
    int trials = kMostFills / static_cast<int>(micro_batches_);
    for (const double reach : kReaches) {
      for (std::size_t part = 0; part + 1 < micro_batches_; ++part) {
        const double middle = best.times[part];
        for (const int step : kSteps) {
          if (--trials < 0) return;
          Targets other = best;
          other.times[part] = middle * (1 + step * reach);
          other.sum = sum_of(other.times);
          if (other.sum < best.sum) best = std::move(other);
        }
      }
    }
  }

 private:
  /// The time of all micro-batches.
  double sum_of(const std::vector<double>& times) {
    const Counts* left = &runs_.counts();
    double sum = 0;
    for (std::size_t part = 0; part + 1 < micro_batches_; ++part) {
      Filled& filled = part % 2 == 0 ? even_ : odd_;
      filler_.fill(*left, times[part], filled);
      sum += filled.time();
      left = &filled.left;
    }
    if (std::all_of(left->begin(), left->end(), [](int count) { return count == 0; })) return sum;
    const Filled last = pack(runs_, *left, kPackSteps, least_level_);
    return last.groups.empty() ? kNever : sum + last.time();
  }

  bool suffices(double first, double common) {
    const Counts* left = &runs_.counts();
    for (std::size_t part = 0; part < micro_batches_; ++part) {
      Filled& filled = part % 2 == 0 ? even_ : odd_;
      filler_.fill(*left, part == 0 ? std::max(first, common) : common, filled);
      if (filled.took_all()) return true;
      left = &filled.left;
    }
    return false;
  }

  Targets common(double first) {
    double low = 0;
    double high = bound_ / static_cast<double>(micro_batches_);
    for (double step = 0.02; !suffices(first, high); step *= 2) {
      low = high;
      high *= 1 + step;
      if (high > kMostSlack * bound_) return {.sum = kNever};
    }
    for (int step = 0; step < kCommonSteps; ++step) {
      const double middle = 0.5 * (low + high);
      (suffices(first, middle) ? high : low) = middle;
    }
    Targets made{.times = std::vector<double>(micro_batches_, high), .least_level = least_level_};
    made.times.front() = std::max(first, high);
    made.sum = sum_of(made.times);
    return made;
  }

  const Runs& runs_;
  std::size_t micro_batches_;
  int least_level_;
  Filler filler_;
  double bound_ = 0;
  Filled even_{};
  Filled odd_{};
};

}  // namespace

std::vector<Targets> search_targets(const Runs& runs, int micro_batches, int least_level) {
  std::vector<Targets> found;
  Search search(runs, micro_batches, least_level);
  for (int level = least_level; level < runs.rates().levels(); ++level) {
    if (runs.time(0, level) == kNever) continue;
    Targets targets = search.start(level);
    if (targets.sum < kNever) found.push_back(std::move(targets));
  }
  const auto by_sum = [](const Targets& a, const Targets& b) { return a.sum < b.sum; };
  std::sort(found.begin(), found.end(), by_sum);
  const double most = found.empty() ? 0 : found.front().sum * kWorthVarying;
  for (std::size_t i = 0; i < std::min(found.size(), kMostStarts); ++i) {
    if (found[i].sum <= most) search.vary(found[i]);
  }
  std::sort(found.begin(), found.end(), by_sum);
  return found;
}

}  // namespace overlaptune
