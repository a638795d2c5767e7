#include "planning/sequences/search/targets.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "planning/sequences/search/lower_bound.hpp"

namespace overlaptune {
namespace {

constexpr int kLastPackBisections = 5;  // of bisection for the last micro-batch
constexpr int kCommonSteps = 8;         // of bisection for the common target
constexpr double kRounding = 1e-8;      // above what sums in another order, and fills, differ by
constexpr double kMostSlack = 4;  // times the bound: where the memory is too fragmented, give up
constexpr int kMostFills = 400;   // of micro-batches, while the targets of one start are varied
constexpr std::size_t kMostStarts = 2;  // whose targets are varied
constexpr double kWorthVarying = 1.03;  // times the best start
constexpr std::array kReaches{0.16, 0.04, 0.01};
constexpr std::array kReachMultiples{-3, -2, -1, 1, 2, 3};

class Search {
 public:
  Search(const Runs& runs, int micro_batches, int least_level)
      : runs_(runs),
        micro_batches_(static_cast<std::size_t>(micro_batches)),
        least_level_(least_level),
        filler_(runs, least_level),
        fills_(micro_batches_) {
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
        if (part > 0) fill(part - 1, best.times[part - 1]);
        const double middle = best.times[part];
        for (const int step : kReachMultiples) {
          if (--trials < 0) return;
          Targets other = best;
          other.times[part] = middle * (1 + step * reach);
          other.sum = sum_of(other.times, part, best.sum);
          if (other.sum < best.sum) best = std::move(other);
        }
      }
    }
  }

 private:
  /// A micro-batch, and what it was filled from.
  struct Fill {
    Counts counts{};
    double target = 0;
    Filled filled{};
  };

  /// The rest that the micro-batches before this one leave.
  [[nodiscard]] const Counts& left_before(std::size_t part) const {
    return part == 0 ? runs_.counts() : fills_[part - 1].filled.left;
  }

  /// Fills one micro-batch with what the one before it leaves. A target between the time that it
  /// takes and the target that it was filled to would change nothing: every sequence that joined a
  /// group still ends in time, and every one that did not would still end too late.
  void fill(std::size_t part, double target) {
    Fill& own = fills_[part];
    const Counts& counts = left_before(part);
    if (target <= own.target && target >= own.filled.time() && own.counts == counts) return;
    own.counts = counts;
    own.target = target;
    filler_.fill(counts, target, own.filled);
  }

  /// The time of the last micro-batch, which takes all that is left.
  double last_time() {
    const Counts& left = left_before(micro_batches_ - 1);
    if (packed_ != left) {
      packed_ = left;
      const Filled last = pack(runs_, left, kLastPackBisections, least_level_);
      packed_time_ = last.groups.empty() ? kNever : last.time();
    }
    return packed_time_;
  }

  /// The time of all micro-batches, of which those before `from` are filled; infinite where it is
  /// not below `most`.
  double sum_of(const std::vector<double>& times, std::size_t from, double most) {
    double sum = 0;
    for (std::size_t part = 0; part + 1 < micro_batches_; ++part) {
      if (part >= from) fill(part, times[part]);
      sum += fills_[part].filled.time();
      if (part < from) continue;
      if (leaves_too_much(part) || sum + least_time_after(part) >= most) return kNever;
    }
    const Counts& left = left_before(micro_batches_ - 1);
    if (std::all_of(left.begin(), left.end(), [](int count) { return count == 0; })) return sum;
    return sum + last_time();
  }

  /// Whether the memory of the micro-batches after `part` does not hold what it leaves.
  [[nodiscard]] bool leaves_too_much(std::size_t part) const {
    const auto needed = fewest_micro_batches(runs_, left_before(part + 1));
    return part + 1 + static_cast<std::size_t>(needed) > micro_batches_;
  }

  /// A time that the micro-batches after `part` are not below: the work that it leaves, and the
  /// fixed part of one of them. Others may stay empty, where no sequence fits their target.
  [[nodiscard]] double least_time_after(std::size_t part) const {
    const double work = filler_.least_work(left_before(part + 1));
    return work > 0 ? (work + runs_.rates().least_fixed()) * (1 - kRounding) : 0;
  }

  bool suffices(double first, double common) {
    for (std::size_t part = 0; part < micro_batches_; ++part) {
      fill(part, part == 0 ? std::max(first, common) : common);
      if (fills_[part].filled.took_all()) return true;
      if (leaves_too_much(part)) return false;
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
    made.sum = sum_of(made.times, 0, kNever);
    return made;
  }

  const Runs& runs_;
  std::size_t micro_batches_;
  int least_level_;
  Filler filler_;
  double bound_ = 0;
  std::vector<Fill> fills_;  ///< of each micro-batch
  Counts packed_{};          ///< what the last micro-batch was last packed from
  double packed_time_ = 0;   ///< its time then
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
  std::ranges::sort(found, {}, &Targets::sum);
  const double most = found.empty() ? 0 : found.front().sum * kWorthVarying;
  for (std::size_t i = 0; i < std::min(found.size(), kMostStarts); ++i) {
    if (found[i].sum <= most) search.vary(found[i]);
  }
  std::ranges::sort(found, {}, &Targets::sum);
  return found;
}

}  // namespace overlaptune
