#include "strategies/signaled/model_solver.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/config/check.hpp"
#include "strategies/signaled/model_cut_choice.hpp"

namespace overlaptune::signaled {
namespace {

double gemm_time_beside(const ClockedGemm& gemm, std::int64_t tiles) {
  return gemm.first(tiles) * gemm.rates.producer_slowdown;
}

/// The time of copies into place. How much of the copying comes before the GEMM ends depends on the
/// cuts. It is computed for groups of typical size: the first group is ready after its part of the
/// GEMM, and each copy comes after its collective.
Reorder reorder_of(const GroupCollectives& groups, const ClockedGemm& gemm, std::int64_t tiles) {
  Reorder reorder = groups.reorder;
  const double alone = groups.whole + groups.bytes * reorder.last_per_byte;
  const double after_first = gemm_time_beside(gemm, tiles) * (1 - 1 / kTypicalGroups);
  const double beside = std::clamp(after_first / alone - 1 / kTypicalGroups, 0.0, 1.0);
  reorder.per_byte += (1 - beside) * (reorder.last_per_byte - reorder.per_byte);
  return reorder;
}

/// Time after the GEMM's end for own parts that were not moved beside it.
double left_to_move(const GroupCollectives& groups, const ClockedGemm& gemm, std::int64_t tiles) {
  if (groups.move_after == 0) return 0;
  const double runs = gemm_time_beside(gemm, tiles);
  return std::max(0.0, groups.bytes - runs / groups.move_beside) * groups.move_after;
}

}  // namespace

std::vector<CutPoint> cut_points(const std::vector<Cut>& cuts) {
  std::vector<CutPoint> points{{}};
  points.reserve(cuts.size() + 1);
  for (const Cut& cut : cuts) {
    points.push_back({.bytes = static_cast<double>(cut.bytes.count), .contiguous = cut.contiguous});
  }
  return points;
}

PartitionProblem partition_problem(const GroupCollectives& groups, const ClockedGemm& gemm,
                                   const std::vector<Cut>& cuts, std::span<const CutPoint> points) {
  return {.start = groups.start,
          .cuts = points,
          .collective = groups.curve,
          .last = groups.last,
          .least_last = left_to_move(groups, gemm, cuts.back().tiles),
          .shared = groups.shared,
          .first_more = groups.first_more,
          .reorder = reorder_of(groups, gemm, cuts.back().tiles),
          .rates = gemm.rates,
          .produced = [&gemm, &cuts](std::size_t first, std::size_t cut) {
            return gemm.until(cuts[cut - 1].tiles, cuts[first - 1].tiles);
          }};
}

ClockedGemm gemm_of(const Model::Parts& parts, const Problem& problem, const Walk& walk,
                    const GroupCollectives& groups) {
  const GemmWork work = work_beside(groups, walk.tile, walk.order, problem.k);
  return clocked(parts.clock, problem, work, groups.gemms->generated->tile_time(work), groups);
}

CombinationSolver::CombinationSolver(const Model::Parts& parts, const Problem& problem,
                                     const Combination& combination, const CutNumbers& numbers)
    : parts_(parts),
      problem_(problem),
      walk_(*combination.walk),
      groups_(*combination.groups),
      numbers_(numbers),
      all_(walk_.order, groups_.sms, groups_.key.transport),
      gemm_(gemm_of(parts, problem, walk_, groups_)) {}

std::optional<Scored> CombinationSolver::solve(double limit) const {
  const std::int64_t spread = limited(numbers_.spread);
  if (is_spread()) limit *= 1 + kSpreadLoss;
  const WholeProblem whole = whole_problem(gemm_, groups_, gemm_.least(walk_.order.tiles()));
  if (groups_.drain + closer_bound(whole, limit - groups_.drain) >= limit) return std::nullopt;
  return config_of(best_of(spread_cuts(all_.count(), spread), limit));
}

std::optional<Scored> CombinationSolver::refine(double limit) const {
  if (!is_long()) return config_of(best_of(spread_cuts(all_.count(), all_.count()), limit));
  constexpr int kRounds = 3;
  std::vector<std::int64_t> tried = spread_cuts(all_.count(), limited(numbers_.spread));
  // The limit is for the last round.
  Solution best = best_of(tried, std::numeric_limits<double>::infinity());
  for (int round = 0; round < kRounds; ++round) {
    tried = cuts_around(tried, best.ends, limited(numbers_.around));
    Solution finer = best_of(tried, best.time);
    if (!finer.ends.empty()) best = std::move(finer);
  }
  return best.time < limit ? config_of(best) : std::nullopt;
}

/// With peer access a group may need three regions of C. Any number of groups may be best: one for
/// every wave, where the exchange does not slow the GEMM.
std::int64_t CombinationSolver::limited(std::int64_t cuts) const {
  const bool anywhere = groups_.key.transport == Transport::peer_access;
  return anywhere ? std::min<std::int64_t>(cuts, kMostRegions / 3) : cuts;
}

CombinationSolver::Solution CombinationSolver::best_of(std::vector<std::int64_t> numbers,
                                                       double limit) const {
  const std::vector<Cut> cuts = all_.at(numbers);
  const std::vector<CutPoint> points = cut_points(cuts);
  const Partition best =
      best_partition(partition_problem(groups_, gemm_, cuts, points), limit - groups_.drain);
  Solution solution{.time = best.time + groups_.drain};
  for (const std::size_t end : best.ends) solution.ends.push_back(numbers[end - 1]);
  return solution;
}

std::optional<Scored> CombinationSolver::config_of(const Solution& solution) const {
  if (solution.ends.empty()) return std::nullopt;
  Signaled config = groups_.exchange;
  config.tile = walk_.tile;
  config.swizzle = walk_.swizzle;
  std::vector<std::int64_t>& groups = config.wave_groups;
  for (const std::int64_t end : solution.ends) groups.push_back(all_[end].tiles);
  std::adjacent_difference(groups.begin(), groups.end(), groups.begin());
  // The model may prefer more groups than a launch has room for; in reality they never pay.
  if (!check(problem_, config, parts_.capabilities)) return std::nullopt;
  return Scored{std::move(config), us(solution.time)};
}

}  // namespace overlaptune::signaled
