#pragma once
// How tiles of ours differ beside a collective, which takes from what L2 delivers to all SMs
// together: what asks for more of that is slowed more, and slows the collective more.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/measurement.hpp"
#include "model/gemm_model.hpp"

namespace overlaptune {

/// Beside one collective, and against the tile that was probed.
struct Feed {
  double times = 1;   ///< operands come so many times slower (see `fed_slower`)
  double probed = 1;  ///< what the probed tile is slowed by that
  double share = 0;   ///< of the difference to another tile that was seen where both were probed
  Tile tile{};        ///< the probed one
  double collective_share = 0;  ///< likewise, of how much more operands a tile asks for

  /// Factor on what the GEMM is slowed.
  [[nodiscard]] double gemm_factor(const GemmWork& work, const GemmConstants& constants) const;
  /// Factor on what the collective is slowed.
  [[nodiscard]] double collective_factor(const Tile& other) const;
};

class FeedModel {
 public:
  /// What the GEMM of a concurrent probe is slowed; nothing where it was not timed alone.
  using SlowdownOf = std::function<std::optional<double>(const Measurement&)>;

  /// From concurrent probes of several tiles beside the same collectives.
  [[nodiscard]] static FeedModel fit(std::span<const Measurement> measurements,
                                     const GemmModel& tiled, int all_sms,
                                     const SlowdownOf& slowdown_of);

  /// Whether it has the tile which, of those probed beside its collective, most were probed with.
  [[nodiscard]] bool is_usual(const ConcurrentProbe& probe) const;

  /// Beside what slows the probed tile, in a GEMM of depth `k`, so many times.
  [[nodiscard]] Feed operator()(const GemmModel& tiled, std::int64_t k, double slowdown) const;

 private:
  std::map<std::pair<CollectiveProbe, std::int64_t>, Tile> usual_{};  ///< by k
  std::optional<GemmProbe> probed_{};                                 ///< beside most collectives
  int sms_ = 0;                                                       ///< of that
  double share_ = 0;
  double collective_share_ = 0;
};

}  // namespace overlaptune
