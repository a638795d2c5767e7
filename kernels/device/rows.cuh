#pragma once
// Feeds: where a generated GEMM has its rows of A from. Either all rows are there, or the ranks of
// an all-gather bring them one another while the GEMM runs (`waiting`).
//
// Rows are sent by copy engines, or by the launch: by the tiles that load them, or by items of its
// queue beside those that compute tiles (`PushOrder` in strategies/waiting/push_order.hpp).

#include "kernels/device/tiles.cuh"
#include "kernels/device/waits.cuh"

namespace overlaptune::kernels::device {

/// Feed of a launch that waits for no rows.
struct RowsThere {
  using Params = NoParams;
  static constexpr bool kWaits = false;
  static constexpr bool kTilesPush = false;
};

/// Feed of a launch that waits for the rows of at most `kGroups` wave groups.
template <int kGroups>
struct Rows {
  using Params = RowsParams<kGroups>;
  static constexpr bool kWaits = true;
  static constexpr bool kTilesPush = false;

  /// The place of a tile of `K`: row block after row block, from the rank's own one downwards. In
  /// `order` there is one block.
  template <class K>
  static __device__ __forceinline__ Place place(const Order& order, const Params& rows, int tile) {
    const int turn = tile / rows.block_tiles;
    Place place = place_of<K::kBlockM, K::kBlockN>(order, tile - turn * rows.block_tiles);
    place.block = rows.own_block - turn + (turn > rows.own_block ? rows.blocks : 0);
    return place;
  }

  /// Waits until the rows of the tile are there, or their first chunk of columns. `group`: the wave
  /// group that this thread waited for last, -1 at first; it ascends: all homes (homes.cuh) are of
  /// group 0, and the tiles behind them ascend. The rows may then be read in any way: by this
  /// thread, or by copies that it starts.
  static __device__ __forceinline__ void wait(const Run& run, const Params& rows, int tile,
                                              int& group) {
    if (group >= 0 && tile < rows.arrivals[group].end) return;
    do {
      ++group;
    } while (tile >= rows.arrivals[group].end);
    const Arrival& arrival = rows.arrivals[group];
    if (arrival.counter == nullptr) return;
    wait_for(run, arrival.counter, arrival.value, Awaited::counter, group);
    fence_copies();  // TMA reads what the counter says is there
  }

  /// Waits until a chunk of the columns is there, in the rows of a wave group.
  static __device__ __forceinline__ void wait_for_chunk(const Run& run, const Params& rows,
                                                        int group, int chunk) {
    const Arrival& arrival = rows.arrivals[group];
    if (arrival.counter == nullptr) return;
    wait_for(run, arrival.counter + chunk * rows.arrivals_count, arrival.value, Awaited::counter,
             group);
    fence_copies();
  }
};

/// Feed of a launch whose tiles push: from the shared memory into which a tile of the rank's own
/// rows loads them (tile_pushes.cuh).
template <int kGroups>
struct PushedByTiles : Rows<kGroups> {
  using Params = PushedByTilesParams<kGroups>;
  static constexpr bool kTilesPush = true;
};

/// Counts a chunk of the columns of a tile that pushes at all peers.
template <int kGroups>
__device__ __forceinline__ void count_pushed(const PushedByTilesParams<kGroups>& rows, int chunk) {
  fence_system();
  for (int peer = 1; peer <= rows.peers; ++peer) {
    add_relaxed(rows.arrivals[peer].receiver + chunk * rows.arrivals_count, 1);
  }
}

/// An item of the queue: a push, or a tile, by its number among those.
struct Turn {
  bool pushes;
  int number;
};
template <int kGroups>
__device__ __forceinline__ Turn turn_at(const RowsParams<kGroups>& rows, int position) {
  int before = position;  // pushes before it
  bool pushes = position < rows.pushes;
  if (position >= rows.first) {
    const int period = rows.period_tiles + rows.period_pushes;
    const int turn = (position - rows.first) / period;
    const int extra = position - rows.first - turn * period - rows.period_tiles;
    before = rows.first + turn * rows.period_pushes + (extra > 0 ? extra : 0);
    pushes = extra >= 0 && before < rows.pushes;
    before = before < rows.pushes ? before : rows.pushes;
  }
  return {pushes, pushes ? before : position - before};
}

/// The positions of a push and of a tile, by their numbers.
template <int kGroups>
__device__ __forceinline__ int position_of_push(const RowsParams<kGroups>& rows, int number) {
  if (number < rows.first) return number;
  const int turn = (number - rows.first) / rows.period_pushes;
  return number + (turn + 1) * rows.period_tiles;
}
template <int kGroups>
__device__ __forceinline__ int position_of_tile(const RowsParams<kGroups>& rows, int number) {
  const int before = rows.first + number / rows.period_tiles * rows.period_pushes;
  return number + (before < rows.pushes ? before : rows.pushes);
}

/// The position behind `position` for a cluster that goes on by equal steps. Clusters that begin
/// with a push have no tiles: a push may take as long as ten of them, and who had both would end
/// last.
template <int kGroups>
__device__ __forceinline__ int step_from(const Run& run, const RowsParams<kGroups>& rows,
                                         int position) {
  if (rows.pushing == 0) return position + run.clusters;
  const Turn turn = turn_at(rows, position);
  if (!turn.pushes) return position_of_tile(rows, turn.number + run.clusters - rows.pushing);
  const int next = turn.number + rows.pushing;
  return next < rows.pushes ? position_of_push(rows, next) : run.items;
}

/// A part of an item that pushes: rows of `width` vectors of 16 bytes, which lie
/// `RowsParams::row_vectors` apart, for one rank, and that rank's counter of them. Without chunks,
/// an item is one part, and a part one row.
struct Push {
  const Vector* from;
  Vector* to;
  u32* counter;
  int width;
  int vectors;
  int most;  // vectors of the largest share of the group
};

/// Parts of an item that pushes: with chunks of columns, the first one of every group, then the
/// second one.
template <int kGroups>
__device__ __forceinline__ int parts_of_push(const RowsParams<kGroups>& rows) {
  return rows.chunks > 1 ? rows.chunks * (rows.arrivals_count - 1) : 1;
}

/// The share `number` of a group's rows.
__device__ __forceinline__ Push share_of(const Arrival& group, int number) {
  const i64 wanted = i64{number} * group.most;
  const int begin = wanted < group.vectors ? static_cast<int>(wanted) : group.vectors;
  const int left = group.vectors - begin;
  const int vectors = left < group.most ? left : group.most;
  return {group.from + begin,        group.to + begin, group.receiver,
          vectors > 0 ? vectors : 1, vectors,          group.most};
}

/// A part of the item of push `number`: pushes are counted through all groups that are sent, or,
/// with chunks, each has its share of every group. (The first group needs no rows of others.)
template <bool kInChunks, int kGroups>
__device__ __forceinline__ Push push_of(const RowsParams<kGroups>& rows, int number, int part) {
  if (!kInChunks || rows.chunks == 1) {
    const int sent = number / rows.shares;
    return share_of(rows.arrivals[sent + 1], number - sent * rows.shares);
  }
  const int groups = rows.arrivals_count - 1;
  const int chunk = part / groups;
  Push push = share_of(rows.arrivals[part - chunk * groups + 1], number);
  constexpr int kStepVectors = 8;  // of 128 bytes, columns of a step
  const int first = chunk * rows.chunk_steps * kStepVectors;
  const int behind = first + rows.chunk_steps * kStepVectors;
  push.from += first;
  push.to += first;
  push.counter += chunk * rows.arrivals_count;
  push.width = (behind < rows.row_vectors ? behind : rows.row_vectors) - first;
  push.vectors = push.vectors / rows.row_vectors * push.width;
  push.most = push.most / rows.row_vectors * push.width;
  return push;
}

}  // namespace overlaptune::kernels::device
