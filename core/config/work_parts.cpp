#include "core/config/work_parts.hpp"

#include <utility>

namespace overlaptune {

TiledWork tiled_work(const Problem& problem, const Tile& tile, int swizzle,
                     const std::vector<std::int64_t>& wave_groups) {
  const TileOrder order = tile_order(problem, tile, swizzle);
  std::vector<Cut> cuts = value_or_throw(group_cuts(order, wave_groups));
  const TiledKernel kernel{.tile = tile,
                           .elements = problem.elements,
                           .regions = static_cast<int>(region_count(order, cuts))};
  return {order, std::move(cuts), kernel};
}

}  // namespace overlaptune
