#pragma once
// The items of a GEMM that computes tiles and sends rows to its peers (`waiting` by peer_access):
// in which order its CTAs take them. Simulator and run library rely on the same rules;
// kernels/device/rows.cuh has the same order. There are no times here but the ratio of two.

#include <cstdint>
#include <span>

namespace overlaptune {

/// `first` pushes; then, again and again, `period_tiles` tiles and `period_pushes` pushes, until
/// all pushes are taken; then tiles. Every rank has the same order. A tile waits only for rows
/// whose pushes come before it, all chunks of them.
struct PushOrder {
  std::int64_t pushes = 0;  ///< items that push
  std::int64_t first = 0;
  std::int64_t period_tiles = 1;
  std::int64_t period_pushes = 0;
  /// CTAs that push and do nothing else, where all CTAs run at once; 0: all pushes come first, and
  /// whoever has pushed goes on with tiles.
  std::int64_t pushing = 0;

  struct Item {
    bool pushes = false;
    std::int64_t number = 0;  ///< among the pushes, or among the tiles
    friend bool operator==(const Item&, const Item&) = default;
  };
  [[nodiscard]] Item at(std::int64_t position) const;
  /// The position of a push.
  [[nodiscard]] std::int64_t position_of_push(std::int64_t number) const;
  /// The position of a tile.
  [[nodiscard]] std::int64_t position_of_tile(std::int64_t number) const;
  /// The first positions, which wait for nothing, and with which CTAs begin that go on by equal
  /// steps. `own_tiles`: those of the rank's own rows.
  [[nodiscard]] std::int64_t homes(std::int64_t own_tiles) const;
  friend bool operator==(const PushOrder&, const PushOrder&) = default;
};

/// The GEMM that sends rows. Counts are in items: with clusters of two, an item is two tiles.
struct PushedGemm {
  std::int64_t ctas = 0;     ///< that run at once
  std::int64_t pushing = 0;  ///< of these, that are to push at any time while there are rows left
  /// Items of the rows of each wave group but the first, or of each chunk of them.
  std::int64_t pushes_a_group = 0;
  int chunks = 1;               ///< of the columns of each group
  bool chunk_by_chunk = false;  ///< a chunk of all groups, then the next; else group by group
  /// Tile items before the tiles of each wave group begin; the first is that of the second group,
  /// whose rows are sent first.
  std::span<const std::int64_t> tiles_before{};
  double pushes_a_tile = 1;  ///< pushes that take as long as a tile
};

/// The order in which about `pushing` CTAs push at any time, and the others multiply. It brings
/// pushes forward where a tile would otherwise come before a push of its rows.
[[nodiscard]] PushOrder push_order(const PushedGemm& gemm);

}  // namespace overlaptune
