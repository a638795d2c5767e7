#include "strategies/signaled/model_partition_problem.hpp"

#include <algorithm>

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

}  // namespace overlaptune::signaled
