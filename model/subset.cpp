#include "model/subset.hpp"

#include "core/config/tiling.hpp"

namespace overlaptune {

bool in_subset(const Tile& tile, const Problem& problem, int sms, const GpuLimits& limits) {
  Tile alone = tile;
  alone.cluster = 1;
  Tile deeper = tile;
  ++deeper.stages;
  const bool shared =
      ctas_per_tile(tile_order(problem, alone, 1), alone, problem.k, sms, limits) > 1;
  return (tile.cluster == 1 || (tile.cluster == limits.largest_cluster && !shared)) &&
         !is_feasible(deeper, limits, problem.elements);
}

}  // namespace overlaptune
