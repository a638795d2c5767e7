#pragma once
// The time for which one tile of a GEMM occupies an SM, in microseconds, with nothing else running.

#include <cstdint>

#include "core/config/tiling.hpp"
#include "machine/simulator/profile.hpp"

namespace overlaptune::sim {

/// One GEMM kernel: its tiles in order, on `sms` SMs.
struct GemmKernel {
  TileOrder order{};
  std::int64_t k = 0;
  Tile tile{};
  int sms = 0;
  int more_sms = 0;        ///< additional SMs, for the first group
  bool library = false;    ///< a kernel of the library, not a generated one
  bool persistent = true;  ///< if not, each tile starts as a kernel does
  /// Whether two CTAs share a tile where there are enough SMs (`ctas_per_tile`).
  bool shares_tiles = true;
};
/// CTAs that compute a tile of a generated kernel.
[[nodiscard]] int ctas_of_tile(const Profile& profile, const GemmKernel& kernel);

/// Tiles at the right and bottom edges compute as long as whole ones but store less.
struct TileTimes {
  double whole = 0;
  double right = 0;
  double bottom = 0;
  double corner = 0;
  double kernel_start = 0;
  /// Share of the L2 and device-memory bandwidth that the kernel uses, summed: about 0.3 to 2.
  double memory_load = 0;
  double flops = 0;
  // Sums over the whole kernel.
  double loaded_bytes = 0;  ///< from L2 into SMs
  double memory_bytes = 0;  ///< from and to device memory
  // Bytes that the tiles which run at once load and store until they end.
  double loaded_at_once = 0;
  double stored_at_once = 0;
};

[[nodiscard]] TileTimes tile_times(const Profile& profile, const GemmKernel& kernel);

}  // namespace overlaptune::sim
