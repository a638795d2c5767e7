#pragma once
// The bounds on the time of a tile of a GEMM, as functions of few constants. Times are
// microseconds.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Eigen/Core>

#include "core/config/config.hpp"
#include "core/config/tiling.hpp"

namespace overlaptune {

/// A GEMM whose tiles are computed in `order` on `sms` SMs. Each tile is computed by `ctas` CTAs
/// (`ctas_per_tile`).
struct GemmWork {
  Tile tile{};
  TileOrder order{};
  std::int64_t k = 0;
  int sms = 0;
  int ctas = 1;
  bool persistent = true;  ///< if not, each tile has a CTA of its own
  bool library = false;    ///< a library's kernel
};

/// The constants of one GPU, one family of kernels and one rate class of dtypes.
struct GemmConstants {
  double per_mac = 0;       ///< tensor cores: one multiply-add on one SM
  double per_fragment = 0;  ///< tensor cores: handing over one element of a row of A or of B
  double multicast = 0;     ///< share of the operand bytes that a CTA of a cluster of two loads
  double clipping = 0;      ///< share c / (1 + c) of what lies outside the matrices is not loaded
  double per_misaligned_byte = 0;  ///< L2 to all SMs together, where rows begin within a sector
  double per_operand_byte = 0;     ///< L2 to shared memory of one SM
  double per_shared_byte = 0;      ///< L2 to all SMs together
  double per_missed_byte = 0;      ///< HBM
  double cache_bytes = 0;          ///< L2: operands beyond it are loaded again by every wave
  double load_latency = 0;     ///< one k block's load; the pipeline hides it in stages - 1 steps
  double per_tile = 0;         ///< fill and drain of a tile
  double per_output_byte = 0;  ///< epilogue
  double spread = 0;           ///< lag of the slowest SM after one wave, in tile times
  double per_launch = 0;       ///< once for each GEMM, without the replay

  static constexpr int kCount = 14;
  /// The constants in the order above; all are positive.
  [[nodiscard]] Eigen::VectorXd values() const;
  [[nodiscard]] static GemmConstants from_values(const Eigen::VectorXd& values);
};

/// The two slowest bounds of a tile through all its k blocks, and its costs that arise once.
struct TileBounds {
  double slowest = 0;  ///< the largest among tensor cores, operand feed, HBM and load latency
  double second = 0;   ///< the next one: where it is close, each hides the other only in part
  double once = 0;     ///< fill, drain and epilogue
  [[nodiscard]] double time() const { return slowest + once; }
};

/// The bounds of a tile of `work` at full clock.
[[nodiscard]] TileBounds tile_bounds(const GemmWork& work, const GemmConstants& constants);

/// Factor on the tile time if operands come to all SMs together `times` times more slowly, and each
/// load as much later.
[[nodiscard]] double fed_slower(const GemmWork& work, const GemmConstants& constants, double times);

/// Whether rows of A and B begin within a sector of L2, so that a load of 128 bytes takes five
/// sectors of two lines.
[[nodiscard]] bool is_misaligned(const GemmWork& work);

/// The time until the first `tiles` tiles are done, if one takes `tile_time`. At first it is
/// counted in whole waves. As the SMs drift apart (`spread`), it becomes proportional to the tiles,
/// plus half a tile.
[[nodiscard]] inline double produced(double tile_time, std::int64_t tiles, int sms, double spread) {
  const double share = static_cast<double>(tiles) / sms;
  // Searches call this very often, and `std::ceil` is a call of the C library.
  const auto whole = static_cast<double>(static_cast<std::int64_t>(share));
  const double waves = whole < share ? whole + 1 : whole;
  const double drift = spread * std::sqrt(waves);
  const double apart = std::min(drift, 1.0);
  constexpr double kLatest = 0.6;  // an SM that lagged further would not have got the tile
  return tile_time * ((1 - apart) * waves + apart * (share + 0.5) + std::min(drift, kLatest));
}

}  // namespace overlaptune
