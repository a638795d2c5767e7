#pragma once
// The tiles of a generated GEMM that waits for the rows of A as they arrive from other ranks
// (`all_gather_gemm` by `waiting`): their order, and where wave groups may end. Model, simulator
// and run library rely on the same rules. There are no times here.

#include <span>
#include <vector>

#include "core/config/comm_ctas.hpp"
#include "core/config/tiling.hpp"
#include "core/config/transport.hpp"
#include "strategies/waiting/config.hpp"

namespace overlaptune {

/// The order of tiles: one row block after the other. A rank begins with its own row block, which
/// needs no copy. Then follow those of the ranks before it (rank - 1, rank - 2, ..., around), in
/// the order in which they arrive when every rank sends to the next rank first. All links are
/// used evenly then. Inside a row block the order is `TileOrder`.
struct ArrivalOrder {
  TileOrder block{};           ///< the order inside each row block; `blocks` is 1
  int blocks = 1;              ///< row blocks, one of each rank
  std::int64_t row_bytes = 0;  ///< bytes of one row of A

  [[nodiscard]] std::int64_t tiles() const { return block.tiles() * blocks; }
  /// Tiles of whole swizzle groups, but for the last one of a row block, which may be lower.
  [[nodiscard]] std::int64_t swizzle_tiles() const {
    return block.columns() * block.column_tiles(0);
  }
};

/// The order for a problem whose op is all_gather_gemm.
[[nodiscard]] ArrivalOrder arrival_order(const Problem& problem, const Tile& tile, int swizzle);

/// The cut after `swizzles` swizzle groups of row block `block`, counted in the order of arrival
/// (0: the rank's own). `bytes` are those of the rows of A up to the cut.
[[nodiscard]] Cut arrival_cut(const ArrivalOrder& order, int block, std::int64_t swizzles);

/// The cuts after each wave group.
/// Error: a group does not end with a swizzle group, or reaches into the next row block, or the
/// sum is wrong.
[[nodiscard]] Expected<std::vector<Cut>> arrival_cuts(const ArrivalOrder& order,
                                                      std::span<const std::int64_t> wave_groups);

/// Consecutive rows of one row block that arrive together.
struct ArrivingRows {
  int block = 0;  ///< in the order of arrival; 0: the rank's own, which do not travel
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  friend bool operator==(const ArrivingRows&, const ArrivingRows&) = default;
};

/// Whether the kernel of a tile can wait for chunks of columns: three consumers of 64 rows of
/// wgmmas leave its loading thread too few registers where their rows are that long.
[[nodiscard]] inline bool may_have_chunks(const Tile& tile) {
  return tile.down() != 192 || tile.across() <= 240;
}

/// Whether tiles like this may push: not in clusters, which share the rows that they load, and not
/// where wgmmas have 192 rows: most of those tiles have three consumers, and no warp is left to
/// count what is at the peers.
[[nodiscard]] inline bool may_push(const Tile& tile) {
  return tile.cluster == 1 && tile.down() != 192;
}

/// Columns of A in each of `chunks` chunks but the last, which may have fewer: those of whole steps
/// of a kernel (`block_k_of`).
[[nodiscard]] std::int64_t chunk_columns(const Problem& problem, int chunks);

/// Whether two CTAs may share a tile: CTAs that did could not push rows as well.
[[nodiscard]] inline bool shares_tiles(Transport transport) {
  return transport != Transport::peer_access;
}

/// Most ranks of a GEMM whose tiles push: its parameters have room for the memory of so many.
inline constexpr int kMostRanksOfTiles = 8;

/// Tiles of each row panel that push its rows, where tiles push, the first ones; they share its
/// stores, each of a step of k at a peer. So many of all panels together run at once on 132 SMs if
/// all panels are walked together: later ones would keep the peers waiting. The SMs of this GPU do
/// not count, as all ranks must agree. `block`: the order in a row block.
[[nodiscard]] int pushers_of_panel(const TileOrder& block);

/// The most tiles that push at the same time, on so many SMs.
[[nodiscard]] int pushers_at_once(const TileOrder& block, int sms);

/// The part of the tiles of a row block that push.
[[nodiscard]] double part_that_pushes(const TileOrder& block);

/// Bytes that a tile which pushes stores, at all peers together.
[[nodiscard]] double bytes_of_pusher(const ArrivalOrder& order);

/// The own tiles of the waves that end before the last one that pushes begins.
[[nodiscard]] std::int64_t tiles_before_pushers(const TileOrder& block, int sms);

/// The part of its time after which a tile needs a chunk. `ctas`: CTAs that share it; the second
/// one of two begins in the middle of k.
[[nodiscard]] double needs_chunk_after(int chunk, int chunks, int ctas);

/// The rows of each wave group. `cuts`: as of `arrival_cuts`.
[[nodiscard]] std::vector<ArrivingRows> arriving_rows(const ArrivalOrder& order,
                                                      std::span<const Cut> cuts);

}  // namespace overlaptune
