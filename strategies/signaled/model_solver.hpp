#pragma once
// The best partition of one combination of the search over `signaled` configs.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/config/tiling.hpp"
#include "model/search.hpp"
#include "strategies/signaled/model_gemm.hpp"
#include "strategies/signaled/model_partition.hpp"

namespace overlaptune::signaled {

/// A GEMM of the space: a tile and an order of its tiles.
struct Walk {
  Tile tile{};
  int swizzle = 0;
  TileOrder order{};
};

/// One combination of the space.
struct Combination {
  double bound = 0;  ///< no partition takes less
  const Walk* walk = nullptr;
  const GroupCollectives* groups = nullptr;
};

/// The GEMM of a combination beside its collectives.
[[nodiscard]] ClockedGemm gemm_of(const Model::Parts& parts, const Problem& problem,
                                  const Walk& walk, const GroupCollectives& groups);

/// The wave groups of a `signaled` config as a partition problem.
[[nodiscard]] std::vector<CutPoint> cut_points(const std::vector<Cut>& cuts);

/// The result refers to all arguments. `points` are the cut points of `cuts`.
[[nodiscard]] PartitionProblem partition_problem(const GroupCollectives& groups,
                                                 const ClockedGemm& gemm,
                                                 const std::vector<Cut>& cuts,
                                                 std::span<const CutPoint> points);

/// The number of cuts that the partition search looks at (docs/model.md, Partition). Its time grows
/// with more than their square.
struct CutNumbers {
  std::int64_t spread = 0;  ///< any problem is first solved with this many, if it has more
  std::int64_t every = 0;   ///< `refine` solves it with all of them, if it has at most this many,
  std::int64_t around = 0;  ///< or else with this many around the ends of groups
};

/// The numbers for answers that must be fast.
inline constexpr CutNumbers kSubsetCuts{.spread = 32, .every = 48, .around = 32};

/// The share of its time that a combination may lose because `spread` cuts are not all (a test
/// checks it).
inline constexpr double kSpreadLoss = 0.01;

class CombinationSolver {
 public:
  /// Refers to all arguments but the numbers.
  CombinationSolver(const Model::Parts& parts, const Problem& problem,
                    const Combination& combination, const CutNumbers& numbers);

  /// Whether there are more cuts than `solve` looks at.
  [[nodiscard]] bool is_spread() const { return all_.count() > limited(numbers_.spread); }
  /// Whether there are more cuts than `refine` looks at.
  [[nodiscard]] bool is_long() const { return all_.count() > limited(numbers_.every); }
  /// The best partition, if its time is under `limit`, or if finer cuts may bring it there.
  [[nodiscard]] std::optional<Scored> solve(double limit) const;
  /// The best partition under `limit`, with all cuts or, if it `is_long`, with cuts that get finer
  /// and finer around the ends of groups.
  [[nodiscard]] std::optional<Scored> refine(double limit) const;

 private:
  struct Solution {
    double time = 0;
    std::vector<std::int64_t> ends{};  ///< the number of the cut that ends each group; or none
  };

  [[nodiscard]] std::int64_t limited(std::int64_t cuts) const;
  [[nodiscard]] Solution best_of(std::vector<std::int64_t> numbers, double limit) const;
  [[nodiscard]] std::optional<Scored> config_of(const Solution& solution) const;

  const Model::Parts& parts_;
  const Problem& problem_;
  const Walk& walk_;
  const GroupCollectives& groups_;
  CutNumbers numbers_;
  WaveCuts all_;
  ClockedGemm gemm_;
};

}  // namespace overlaptune::signaled
