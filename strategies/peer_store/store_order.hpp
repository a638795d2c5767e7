#pragma once
// The tiles of a generated GEMM that stores each tile into the memory of the rank that owns it
// (`peer_store`): their owners, their order on each rank, and the slots in which an owner receives
// what it adds up. Model, simulator and run library rely on the same rules. There are no times
// here.

#include <cstddef>
#include <span>
#include <vector>

#include "core/config/tiling.hpp"

namespace overlaptune {

/// Consecutive tiles of `StoreOrder::part`.
struct TileRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t count() const { return end - begin; }
  friend bool operator==(const TileRange&, const TileRange&) = default;
};

/// The order of tiles. In gemm_reduce_scatter and gemm_all_to_all, rank r owns row block r, and
/// each group has the same tiles of every row block. In gemm_all_reduce there is one row block;
/// rank r owns part r of each group, where a group is cut into `ranks` nearly equal parts. Of each
/// group, rank r computes the tiles of rank r + 1 first, then those of rank r + 2, ..., around. At
/// any time each rank then stores to another one, so all links are used evenly. Then come its own
/// tiles: those of the same group or, with `own_later`, those of the group before, whose other
/// parts have had the time of a group to arrive. What a rank waits for was computed by its peers
/// before they wait for anything of the same group.
struct StoreOrder {
  struct Group {
    TileRange tiles{};      ///< of `part`
    std::int64_t slot = 0;  ///< the owner's slot of its first tile
  };
  TileOrder part{};  ///< the order inside a row block; `blocks` is 1
  int ranks = 1;
  bool owns_blocks = true;  ///< false: gemm_all_reduce
  bool own_later = false;   ///< own tiles come after the peers' tiles of the next group
  std::vector<Group> groups{};

  [[nodiscard]] std::int64_t tiles() const { return part.tiles() * (owns_blocks ? ranks : 1); }
  /// Most tiles that one rank owns. It receives each of them, of every peer, in a slot.
  [[nodiscard]] std::int64_t slots() const;
  /// The tiles of a group that a rank owns.
  [[nodiscard]] TileRange share(std::size_t group, int owner) const;
};

/// The order for a problem whose op `peer_store` runs. `cuts`: as of `group_cuts`. Own tiles come
/// later in gemm_all_reduce, and where the product of a tile takes less time than its transfer, so
/// that it would be waited for: where `k` is small. (In gemm_all_to_all nothing waits; it spreads
/// the stores.) They do not elsewhere: then the tiles that run at once share columns of B.
/// (docs/kernel-notes.md, "Groups of one wave"; it is not a field of a config, because it follows
/// from the problem.)
[[nodiscard]] StoreOrder store_order(const Problem& problem, const TileOrder& order,
                                     std::span<const Cut> cuts);
[[nodiscard]] bool own_tiles_come_later(const Problem& problem);

/// A tile, by its owner and its number in `StoreOrder::part`.
struct StoredTile {
  std::size_t group = 0;
  int owner = 0;
  std::int64_t tile = 0;
  std::int64_t slot = 0;
  friend bool operator==(const StoredTile&, const StoredTile&) = default;
};

/// The tile that a rank computes as number `position`, from 0 on.
[[nodiscard]] StoredTile stored_tile(const StoreOrder& order, int rank, std::int64_t position);

/// The first positions of a rank whose tiles wait for no peer. `adds`: as of `OpTraits::sums`.
[[nodiscard]] std::int64_t tiles_before_waits(const StoreOrder& order, int rank, bool adds);

/// Bytes of a slot: a whole tile, also where only a part of it lies within the matrix.
[[nodiscard]] std::int64_t slot_bytes(const StoreOrder& order);

}  // namespace overlaptune
