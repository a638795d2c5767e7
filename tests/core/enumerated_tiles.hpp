#pragma once
// The tiles of an order one by one, from the definition in core/config/tiling.hpp.

#include <algorithm>
#include <vector>

#include "core/config/tiling.hpp"

namespace overlaptune {

struct EnumeratedTile {
  std::int64_t swizzle = 0;  ///< swizzle group
  std::int64_t column = 0;
  int block = 0;
  std::int64_t first_row = 0;  ///< within the block
  std::int64_t rows = 0;
  std::int64_t columns = 0;  ///< columns of C
};

inline std::vector<EnumeratedTile> enumerated_tiles(const TileOrder& order) {
  std::vector<EnumeratedTile> tiles;
  std::int64_t panels = 0;
  while (panels * order.block_m < order.block_rows) ++panels;
  for (std::int64_t swizzle = 0; swizzle * order.swizzle < panels; ++swizzle) {
    for (std::int64_t column = 0; column * order.block_n < order.n; ++column) {
      for (int block = 0; block < order.blocks; ++block) {
        for (std::int64_t p = swizzle * order.swizzle;
             p < std::min(panels, (swizzle + 1) * order.swizzle); ++p) {
          tiles.push_back(
              {swizzle, column, block, p * order.block_m,
               std::min<std::int64_t>(order.block_m, order.block_rows - p * order.block_m),
               std::min<std::int64_t>(order.block_n, order.n - column * order.block_n)});
        }
      }
    }
  }
  return tiles;
}

/// Whether a wave group may end before tile `end`: the next tile, if any, opens a column.
inline bool opens_a_column(const std::vector<EnumeratedTile>& tiles, std::size_t end) {
  if (end == 0 || end >= tiles.size()) return end == tiles.size();
  return tiles[end - 1].swizzle != tiles[end].swizzle || tiles[end - 1].column != tiles[end].column;
}

/// Whether the tiles before `end` are whole swizzle groups.
inline bool opens_a_swizzle_group(const std::vector<EnumeratedTile>& tiles, std::size_t end) {
  return end == tiles.size() || (end > 0 && tiles[end - 1].swizzle != tiles[end].swizzle);
}

/// Rectangles of C that tiles `begin` to `end` fill: one for each swizzle group of which they hold
/// a part, and one for each row of swizzle groups that they hold as a whole.
inline int enumerated_regions(const std::vector<EnumeratedTile>& tiles, std::size_t begin,
                              std::size_t end) {
  int regions = 0;
  bool extends = false;
  for (std::size_t first = begin, after = begin; first < end; first = after) {
    const std::int64_t swizzle = tiles[first].swizzle;
    while (after < end && tiles[after].swizzle == swizzle) ++after;
    const bool is_whole = (first == 0 || tiles[first - 1].swizzle != swizzle) &&
                          (after == tiles.size() || tiles[after].swizzle != swizzle);
    if (!is_whole || !extends) ++regions;
    extends = is_whole;
  }
  return regions;
}

}  // namespace overlaptune
