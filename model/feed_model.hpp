#pragma once
// Contention by tile of a generated GEMM. A collective takes bandwidth from what L2 delivers to all
// SMs together. A tile that loads more operands is slowed more, and slows the collective more.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/measurement.hpp"
#include "model/gemm_model.hpp"

namespace overlaptune {

/// The operand feed that a collective leaves to a GEMM, relative to the tile that was probed.
struct Feed {
  double times = 1;   ///< factor by which operands come more slowly (see `fed_slower`)
  double probed = 1;  ///< factor by which this slows the probed tile
  /// Share of the difference to another tile that counts, fitted where both tiles were probed.
  double share = 0;
  Tile tile{};                  ///< the probed one
  double collective_share = 0;  ///< the same for the effect on the collective

  /// Factor on the slowdown of the GEMM `work`, relative to the probed tile.
  [[nodiscard]] double gemm_factor(const GemmWork& work, const GemmConstants& constants) const;
  /// Factor on the slowdown of the collective beside tile `other`, relative to the probed tile.
  [[nodiscard]] double collective_factor(const Tile& other) const;
};

class FeedModel {
 public:
  /// The factor by which the GEMM of a concurrent probe is slowed; none where it was not timed
  /// alone.
  using SlowdownOf = std::function<std::optional<double>(const Measurement&)>;

  /// Learns from concurrent probes of several tiles beside the same collectives.
  [[nodiscard]] static FeedModel fit(std::span<const Measurement> measurements,
                                     const GemmModel& generated, int all_sms,
                                     const SlowdownOf& slowdown_of);

  /// Whether the GEMM of the probe has the usual tile: of the tiles probed beside this collective
  /// at this depth, the one with the most concurrent probes in all.
  [[nodiscard]] bool is_usual(const ConcurrentProbe& probe) const;

  /// The feed beside a collective that slows the probed tile, in a GEMM of depth `k`, by
  /// `slowdown`.
  [[nodiscard]] Feed operator()(const GemmModel& generated, std::int64_t k, double slowdown) const;

 private:
  std::map<std::pair<CollectiveProbe, std::int64_t>, Tile> usual_{};  ///< by collective and k
  std::optional<GemmProbe> probed_{};  ///< a GEMM of the tile with the most concurrent probes
  int sms_ = 0;                        ///< SMs that `probed_` ran on
  double share_ = 0;
  double collective_share_ = 0;
};

}  // namespace overlaptune
