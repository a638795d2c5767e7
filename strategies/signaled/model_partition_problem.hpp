#pragma once
// The wave groups of a `signaled` config as a partition problem.

#include <span>
#include <vector>

#include "core/config/tiling.hpp"
#include "strategies/signaled/model_gemm.hpp"
#include "strategies/signaled/model_partition.hpp"

namespace overlaptune::signaled {

[[nodiscard]] std::vector<CutPoint> cut_points(const std::vector<Cut>& cuts);

/// The result refers to all arguments. `points` are the cut points of `cuts`.
[[nodiscard]] PartitionProblem partition_problem(const GroupCollectives& groups,
                                                 const ClockedGemm& gemm,
                                                 const std::vector<Cut>& cuts,
                                                 std::span<const CutPoint> points);

}  // namespace overlaptune::signaled
