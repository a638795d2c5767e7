#pragma once
// How a GEMM on Hopper (kernels/device/hopper_gemm.cuh) gives a tile to its consumers, and how
// these stage C in shared memory. The kernel's source is made from it; model and simulator take
// from it what storing a tile costs.

#include "core/config/config.hpp"
#include "core/gpu.hpp"

namespace overlaptune {

/// A consumer is a warpgroup that multiplies. It hands its part of C over in *epilogue subtiles* of
/// 64 rows of its wgmmas (with swap-AB: 64 columns of C), each through a staging buffer.
struct Staging {
  /// Each consumer has a whole tile, in turn: one stores while the other multiplies, and multiplies
  /// on while a tile waits for peers. Else each has a part of every tile, and all wait.
  bool ping_pong = false;
  int consumers = 0;
  int subtile = 0;       ///< columns of wgmmas in a subtile: 64, 32 or 16
  int subtiles = 0;      ///< of a tile, for each consumer
  int buffers = 0;       ///< for each consumer; at most `subtiles`
  int shared_bytes = 0;  ///< dynamic shared memory of a block: ring of stages, and buffers
  bool fits = false;     ///< a block has so much memory
  /// Consumers that store a part of each tile.
  [[nodiscard]] int of_one_tile() const { return ping_pong ? 1 : consumers; }
  /// Share of a tile that the buffers hold. A consumer is free for its next tile when the rest has
  /// left.
  [[nodiscard]] double held() const { return static_cast<double>(buffers) / subtiles; }
};

/// For a tile whose `down` is 64, 128, 192 or 256, and whose `across` is a multiple of 16.
[[nodiscard]] Staging staging_of(const Tile& tile, const GpuLimits& limits, Elements elements);

}  // namespace overlaptune
