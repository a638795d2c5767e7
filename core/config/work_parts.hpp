#pragma once
// The parts of a unit of work: tiles with wave groups, or chunks of rows.

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "core/config/tiling.hpp"

namespace overlaptune {

/// The work of a generated GEMM: the order of its tiles, and where wave groups end. A strategy may
/// have an order of its own, with the same tiles and swizzle as `order` (`ArrivalOrder`,
/// `StoreOrder`).
struct TiledWork {
  TileOrder order{};
  std::vector<Cut> cuts{};  ///< one after each wave group
  TiledKernel kernel{};
};

/// The work of a library GEMM, in chunks.
struct ChunkedWork {
  std::vector<std::int64_t> rows{};  ///< rows of each part, in one row block
};

using WorkParts = std::variant<ChunkedWork, TiledWork>;

/// The work of tiles in `TileOrder`, whose wave groups are legal.
[[nodiscard]] inline TiledWork tiled_work(const Problem& problem, const Tile& tile, int swizzle,
                                          const std::vector<std::int64_t>& wave_groups) {
  const TileOrder order = tile_order(problem, tile, swizzle);
  std::vector<Cut> cuts = value_or_throw(group_cuts(order, wave_groups));
  const TiledKernel kernel{.tile = tile,
                           .elements = problem.elements,
                           .regions = static_cast<int>(region_count(order, cuts))};
  return {order, std::move(cuts), kernel};
}

}  // namespace overlaptune
