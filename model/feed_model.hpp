#pragma once
// How the tiles of generated GEMMs differ beside a collective, which takes from what L2 delivers to
// all SMs together: a tile that asks for more of it is slowed more, and slows the collective more.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/measurement.hpp"
#include "model/gemm_model.hpp"

namespace overlaptune {

/// What one collective leaves to the operands of tiles, against the tile that was probed.
struct Feed {
  double times = 1;   ///< operands come so many times slower (see `fed_slower`)
  double probed = 1;  ///< factor by which the probed tile is slowed by that
  /// How much of the difference to another tile was seen where both were probed.
  double share = 0;
  Tile tile{};                  ///< the probed one
  double collective_share = 0;  ///< the same for how many more operands a tile asks for

  /// Factor on the slowdown of the GEMM.
  [[nodiscard]] double gemm_factor(const GemmWork& work, const GemmConstants& constants) const;
  /// Factor on the slowdown of the collective.
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

  /// Whether it has the tile which, of those probed beside its collective, most were probed with.
  [[nodiscard]] bool is_usual(const ConcurrentProbe& probe) const;

  /// The feed beside a collective that slows the probed tile, in a GEMM of depth `k`, by that
  /// factor.
  [[nodiscard]] Feed operator()(const GemmModel& generated, std::int64_t k, double slowdown) const;

 private:
  std::map<std::pair<CollectiveProbe, std::int64_t>, Tile> usual_{};  ///< by k
  std::optional<GemmProbe> probed_{};                                 ///< beside most collectives
  int sms_ = 0;                                                       ///< SMs that it ran on
  double share_ = 0;
  double collective_share_ = 0;
};

}  // namespace overlaptune
