#pragma once
// Feeds: where a generated GEMM has its rows of A from. Either all rows are there, or the ranks of
// an all-gather bring them one another while the GEMM runs (`waiting`).
//
// Rows are sent by copy engines, or by the launch: then its queue has items that push rows beside
// those that compute tiles (`PushOrder` in strategies/waiting/push_order.hpp).

#include "kernels/device/tiles.cuh"
#include "kernels/device/waits.cuh"

namespace overlaptune::kernels::device {

/// Feed of a launch that waits for no rows.
struct RowsThere {
  using Params = NoParams;
  static constexpr bool kWaits = false;
};

/// Feed of a launch that waits for the rows of at most `kGroups` wave groups.
template <int kGroups>
struct Rows {
  using Params = RowsParams<kGroups>;
  static constexpr bool kWaits = true;

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

  /// Waits until the columns from a step on are there, in the rows of a wave group whose first
  /// chunk is. Returns the step of the next chunk.
  static __device__ __forceinline__ int wait_for_columns(const Run& run, const Params& rows,
                                                         int group, int step) {
    const int chunk = step / rows.chunk_steps;
    const Arrival& arrival = rows.arrivals[group];
    if (arrival.counter != nullptr) {
      wait_for(run, arrival.counter + chunk * rows.chunk_counters,
               arrival.value + static_cast<u32>(chunk * rows.chunk_value), Awaited::counter, group);
      fence_copies();
    }
    return (chunk + 1) * rows.chunk_steps;
  }
};

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

/// The position that a cluster begins with, and the one behind `position`, where clusters go on by
/// equal steps. Clusters that begin with a push have no tiles: a push may take as long as ten of
/// them, and who had both would end last.
template <int kGroups>
__device__ __forceinline__ int start_of(const RowsParams<kGroups>& rows, int cluster) {
  if (cluster < rows.pushing || rows.pushing == 0) return cluster;
  return position_of_tile(rows, cluster - rows.pushing);
}
template <int kGroups>
__device__ __forceinline__ int step_from(const Run& run, const RowsParams<kGroups>& rows,
                                         int position) {
  if (rows.pushing == 0) return position + run.clusters;
  const Turn turn = turn_at(rows, position);
  if (!turn.pushes) return position_of_tile(rows, turn.number + run.clusters - rows.pushing);
  const int next = turn.number + rows.pushing;
  return next < rows.pushes ? position_of_push(rows, next) : run.items;
}

/// A share of the rows of a group, or of a chunk of their columns: *lines* of vectors of 16 bytes
/// for one rank, and that rank's counter of the group or the chunk. The last line may be shorter.
struct Push {
  const Vector* from;
  Vector* to;
  u32* counter;
  int vectors;
  int most;   // vectors of the largest share of these
  int line;   // vectors of a line
  int pitch;  // from a line to the next
  int lines;  // that are sent together, in a step
};

/// The group and the chunk of a share, given its number, counted through all that are sent.
struct Sent {
  int group;
  int chunk;
  int share;
};
template <bool kInChunks, int kGroups>
__device__ __forceinline__ Sent sent_by(const RowsParams<kGroups>& rows, int number) {
  int part = number / rows.shares;
  const int share = number - part * rows.shares;
  int chunk = 0;
  if (kInChunks && rows.chunks > 1) {
    const int inner = rows.chunk_by_chunk != 0 ? rows.arrivals_count - 1 : rows.chunks;
    const int outer = part / inner;
    part -= outer * inner;
    chunk = rows.chunk_by_chunk != 0 ? outer : part;
    part = rows.chunk_by_chunk != 0 ? part : outer;
  }
  return {part + 1, chunk, share};  // the first group needs no rows of others
}

/// Puts a share in its place. `step`: vectors that are sent together at most; a line of a chunk has
/// no more of them. `kInChunks`: rows may travel in chunks of their columns.
template <bool kInChunks, int kGroups, class Slot>
__device__ __forceinline__ void put_push(const RowsParams<kGroups>& rows, int number, int step,
                                         Slot& push) {
  const Sent sent = sent_by<kInChunks>(rows, number);
  const Arrival& group = rows.arrivals[sent.group];
  const int wanted = sent.share * group.most;
  const int begin = wanted < group.units ? wanted : group.units;
  const int units = group.units - begin < group.most ? group.units - begin : group.most;
  push.counter = group.receiver + sent.chunk * rows.chunk_counters;
  if (!kInChunks || rows.row_vectors == 0) {
    push.vectors = units;
    push.most = group.most;
    push.line = step;
    push.pitch = step;
    push.lines = 1;
    push.from = group.from + begin;
    push.to = group.to + begin;
    return;
  }
  const int left_of = sent.chunk * rows.chunk_vectors;
  const int rest = rows.row_vectors - left_of;
  const int line = rest < rows.chunk_vectors ? rest : rows.chunk_vectors;
  push.vectors = units * line;
  push.most = group.most * line;
  push.line = line;
  push.pitch = rows.row_vectors;
  push.lines = step / line;
  const i64 first = static_cast<i64>(begin) * rows.row_vectors + left_of;
  push.from = group.from + first;
  push.to = group.to + first;
}

}  // namespace overlaptune::kernels::device
