#pragma once
// What predicting and searching `signaled` configs have in common.

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "core/tiling.hpp"
#include "model/partition.hpp"
#include "model/strategy.hpp"

namespace overlaptune::signaled {

/// Signals end a GEMM's tiles: the GEMM comes first.
[[nodiscard]] inline bool is_supported(Op op) {
  return op != Op::all_gather_gemm;
}

/// What is the same for every tile: the collective's side of a config.
struct Exchange {
  CollectiveKey key{};  ///< of all groups but the last; without CTAs: beside one CTA for each tile
  Transport transport{};
  Wait wait{};
  const Curve* curve = nullptr;
  const Curve* last = nullptr;  ///< of the last group, if it has one of its own
  double bytes = 0;
  double whole = 0;  ///< the collective in one piece
  double least_time_per_byte = 0;
  double least_time = 0;  ///< of any piece, but for `shared`
  double shared = 0;      ///< of each piece's time: not counted but in `first_more` and `drain`
  double first_more = 0;  ///< what the first piece takes besides
  double drain = 0;       ///< what comes after the last one
  Reorder reorder{};      ///< of groups that come while the GEMM runs, and of the last
  /// Copy engines: what a rank's own part takes for each byte of the whole, moved by the SMs that
  /// the GEMM leaves and by all of them.
  double move_beside = 0;
  double move_after = 0;
  double start = 0;
  OverlapRates rates{};
  Feed feed{};      ///< what it leaves to the GEMM's operands
  int sms = 0;      ///< left to the GEMM
  int all_sms = 0;  ///< that it has for the first group
  Company company{};
};

/// By the collective that `key` says, `curve` alone.
[[nodiscard]] Exchange exchange(const Model::Parts& parts, const Problem& problem,
                                const CollectiveKey& key, const Curve& curve, Wait wait,
                                Launch launch, const Company& company);

/// By copy engines; own parts are moved by `key.comm_ctas` SMs beside the GEMM (`curve`: alone, by
/// as many).
/// Null where they were not probed with all SMs.
[[nodiscard]] std::optional<Exchange> exchange_by_copies(const Model::Parts& parts,
                                                         const Problem& problem,
                                                         const CollectiveKey& key,
                                                         const Curve& curve, Launch launch,
                                                         const Company& company);

/// The same with a last group by NCCL's own choice on a ring, of which `last` is the curve.
[[nodiscard]] Exchange with_ring_at_last(Exchange exchange, const Curve& last);

/// A GEMM of ours, on all SMs for the first group, with its tile time at the clock that it will run
/// at.
struct ClockedGemm {
  double tile_time = 0;
  double per_launch = 0;
  double spread = 0;
  int sms = 0;
  int all_sms = 0;
  double fed_slower = 1;  ///< than the probed tile, beside a collective
  OverlapRates rates{};   ///< beside the exchange

  /// A first group of so many tiles, on all SMs.
  [[nodiscard]] double first(std::int64_t tiles) const {
    return per_launch + overlaptune::produced(tile_time, tiles, all_sms, spread);
  }
  /// Of no partition fewer: all SMs busy to the end.
  [[nodiscard]] double least(std::int64_t tiles) const {
    return per_launch + tile_time * static_cast<double>(tiles) / all_sms;
  }
  /// The first `tiles` tiles, when the first group has `first_tiles` of them: those that the SMs do
  /// which then leave are as good as not there for the others. (They do `leaving` of each whole
  /// turn, and the first ones of the last: kernels/device/tiles.cu.)
  [[nodiscard]] double until(std::int64_t tiles, std::int64_t first_tiles) const {
    if (tiles == first_tiles) return first(tiles);
    const std::int64_t leaving = all_sms - sms;
    const std::int64_t done =
        first_tiles / all_sms * leaving + std::min(first_tiles % all_sms, leaving);
    return std::max(first(first_tiles),
                    per_launch + overlaptune::produced(tile_time, tiles - done, sms, spread));
  }
};

/// Of a GEMM that a collective slows so much more than the probed one.
[[nodiscard]] OverlapRates rates_beside(const Exchange& exchange, const Tile& tile,
                                        double fed_slower);

/// What its GEMM is.
[[nodiscard]] GemmWork work_beside(const Model::Parts& parts, const Exchange& exchange,
                                   const Tile& tile, const TileOrder& order, std::int64_t k);

/// `tile_time` at full clock.
[[nodiscard]] ClockedGemm clocked(const Model::Parts& parts, const Problem& problem,
                                  const GemmWork& work, double tile_time, const Exchange& exchange);

[[nodiscard]] std::vector<CutPoint> cut_points(const std::vector<Cut>& cuts);

/// Refers to all it is given.
[[nodiscard]] PartitionProblem partition_problem(const Exchange& exchange, const ClockedGemm& gemm,
                                                 const std::vector<Cut>& cuts,
                                                 std::span<const CutPoint> points);

}  // namespace overlaptune::signaled
