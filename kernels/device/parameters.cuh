#pragma once
// The parameters of the generated GEMMs. The host includes this header to fill them in.
//
// A kernel takes its operands, `Order`, the `Params` of its feed (where rows of A come from) and of
// its epilogue (where tiles go), and, where it takes work from a queue, `Run` (flags.cuh).

#include "kernels/device/flags.cuh"

namespace overlaptune::kernels::device {

/// The order of the tiles, as `TileOrder` in core/config/tiling.hpp.
struct Order {
  int panels;     ///< row panels of one row block
  int blocks;     ///< row blocks
  int columns;    ///< tiles across n
  int swizzle;    ///< at most `panels`
  int tiles;      ///< tiles to compute: the first ones
  int k_steps;    ///< steps of 128 bytes of k, rounded up
  int early;      ///< tiles before the first CTAs leave; whole clusters
  int leaving;    ///< CTAs that leave then, whole clusters
  int ctas;       ///< CTAs that share a tile: 1, or 2 where each computes no other tile
  int signal;     ///< increment by each consumer that has stored its part of a tile
  u32* counters;  ///< of the wave groups; null: none
};

/// Operands of the GEMM with mma.sync. Strides are in elements and multiples of 8; `a` and `b` are
/// multiples of 16 bytes.
struct AmpereOperands {
  const void* a;       ///< [block][row][k]
  const void* b;       ///< [n][k]
  i64 a_block_stride;  ///< from a row block to the next; any value if there is one
  int a_stride;        ///< from row to row; at least k, less than 2^30
  int b_stride;
  int rows;  ///< rows of one row block, at least 1
  int n;     ///< a multiple of 8
  int k;     ///< multiplied elements of a row, at least 1; rows may be longer
};

/// For a feed all of whose rows are there, and for operands without scales.
struct NoParams {};

/// Scales of A, [block][row], and of B, [column of C]. Each is the first one of all that are alike:
/// `stride` 0, or 1 where every row has its own.
struct ScaleParams {
  const float* a;
  const float* own_a;  ///< of block `own_block`, instead of those in `a`; null: none
  const float* b;
  int own_block;
  int stride;
  int rows;  ///< of a block
  int n;
};

/// A wave group: consecutive tiles, up to tile `end` (exclusive), whose rows of A are there when
/// `*counter` is at least `value`; and the rows of this rank that a peer's group of the same number
/// needs, where the launch sends them: vectors of 16 bytes, cut into shares of `most` vectors. With
/// chunks of columns, shares are whole rows, and each chunk has a counter of its own:
/// `RowsParams::arrivals_count` words behind that of the chunk before.
struct Arrival {
  int end;
  u32 value;
  const u32* counter;  ///< null: the rows are there
  const Vector* from;
  Vector* to;
  u32* receiver;  ///< the counter that the peer has for its group
  int vectors;
  int most;
};

/// The rows of A that the ranks of an all-gather bring one another (rows.cuh). The row block
/// `own_block` needs no copy.
template <int kGroups>
struct RowsParams {
  TensorMap own_a;  ///< that block, for a kernel with TMA
  const void* own;  ///< for one without
  int own_block;
  int blocks;  ///< row blocks
  int block_tiles;
  int arrivals_count;
  int chunk_steps;  ///< steps of k whose columns of A arrive together: all, or a chunk
  int chunks;       ///< chunks of columns, of a launch that sends rows
  int row_vectors;  ///< vectors of a row of A, likewise
  // `PushOrder` in strategies/waiting/push_order.hpp, in items; `pushes` is 0 where the launch
  // sends no rows.
  int pushes;
  int first;
  int period_tiles;
  int period_pushes;
  int pushing;  ///< clusters that only push where all are there; 0: none
  int shares;   ///< of a group's rows; each, or its share of every group in chunks, is an item
  int shares_an_item;  ///< 1, or 2 where the CTAs of a cluster push one each
  Arrival arrivals[kGroups];
};

/// Rows that the tiles of the rank's own row block push. Each row block is one group.
template <int kGroups>
struct PushedByTilesParams : RowsParams<kGroups> {
  static constexpr int kMostPeers = 7;
  int pushers;  ///< tiles of each row panel that push, the first ones: they share its stores
  int peers;
  /// The rank's own row block in the memory of the rank that is `i + 1` behind it.
  TensorMap gathered[kMostPeers];
};

/// Consecutive tiles, up to tile `end` (exclusive), that fill one matrix of every row block. Row
/// `first_row` and column `first_column` of the block are row 0 and column 0 of the matrix. The
/// `end` of the last segment is at least `Order::tiles`.
struct Segment {
  int end;
  int counter;  ///< counter of its wave group
  int first_row;
  int first_column;
};

/// Tiles go into C on Hopper, each segment by a tensor map of its own (into_c.cuh).
template <int kSegments>
struct IntoCParams {
  TensorMap c[kSegments];
  Segment segments[kSegments];
};

/// A segment of the GEMM with mma.sync. Strides are in elements and multiples of 8; the address `c`
/// is a multiple of 16 bytes.
struct StridedSegment {
  Segment tiles;
  void* c;
  i64 row_stride;
  i64 block_stride;
};

template <int kSegments>
struct IntoRowsParams {
  StridedSegment segments[kSegments];
};

/// A wave group of `StoreOrder` (strategies/peer_store/store_order.hpp).
struct Group {
  int end;       ///< tiles of a row block (gemm_all_reduce: of C) up to the end of the group
  int computed;  ///< tiles that this rank has computed before those of the next group
  int slot;      ///< slot of an owner's first tile
  u32 arrivals;  ///< the group's counter when all that this rank owns has arrived
};

/// Each tile goes to the rank that owns it (at_ranks.cuh). The tensor maps come last, so that the
/// host can hand over those of fewer ranks.
template <int kRanks, int kGroups>
struct AtRanksParams {
  int rank;
  int owns_blocks;  ///< rank r owns row block r; else a part of each group, and its sums go to all
  int adds;         ///< the sum of all ranks is the result; else each tile is
  int slots;        ///< of a rank, for each peer
  int groups_count;
  int permits;    ///< storing warps that send at once (permits.cuh)
  int own_later;  ///< 1: own tiles come after the peers' tiles of the next group; 0: of the same
  u32 done;       ///< `RankFlags::done` when all tiles of the peers have arrived in C; 0: none come
  Group groups[kGroups];
  char* slots_of[RankFlags::kMostRanks];
  /// The rows of C that this rank's tiles fill at each rank, by the place that it has for C; of its
  /// own C, by the address. `kParts` for each rank.
  TensorMap c[kParts * kRanks];
};

}  // namespace overlaptune::kernels::device
