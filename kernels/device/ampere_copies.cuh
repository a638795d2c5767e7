#pragma once
// A tile of the GEMM with mma.sync: what follows from it, and the copies of A and B into the ring
// of stages.

#include "kernels/device/ptx/ampere.cuh"
#include "kernels/device/rows.cuh"

namespace overlaptune::kernels::device {

/// A tile, and how a CTA computes it (`AmpereLayout` in kernels/ampere_gemm.hpp). A step of k is
/// 64, one swizzled row of 128 bytes.
struct AmpereTile {
  int block_m;
  int block_n;
  int stages;       ///< of the ring, 2 or more
  int warps_m;      ///< warps that share the rows of a tile
  int warps_n;      ///< warps that share its columns
  int slab;         ///< columns of C that a warp turns into whole rows at a time: 16, 32 or 64
  Element element;  ///< of A, B and C
};

/// A kernel for a tile, a feed (rows.cuh) and a number of segments of C.
template <AmpereTile kTile, class FeedOfRows, int kSegments>
struct AmpereGemm {
  using Feed = FeedOfRows;
  using Into = IntoRowsParams<kSegments>;
  static constexpr int kBlockM = kTile.block_m;
  static constexpr int kBlockN = kTile.block_n;
  static constexpr int kStages = kTile.stages;
  static constexpr int kWarpsM = kTile.warps_m;
  static constexpr int kWarpsN = kTile.warps_n;
  static constexpr int kSlab = kTile.slab;
  static constexpr Element kElement = kTile.element;

  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kBlockK = 64;
  static constexpr int kRowBytes = 2 * kBlockK;
  static constexpr int kABytes = kBlockM * kRowBytes;
  static constexpr int kStageBytes = (kBlockM + kBlockN) * kRowBytes;
  /// Rows and columns of a warp.
  static constexpr int kRows = kBlockM / kWarpsM;
  static constexpr int kColumns = kBlockN / kWarpsN;
  /// Number of mma.m16n8k16 of a warp: down, across, and along a step of k.
  static constexpr int kDown = kRows / 16;
  static constexpr int kAcross = kColumns / 8;
  static constexpr int kDeep = kBlockK / 16;
  /// Bytes of a slab: 16 rows of C.
  static constexpr int kSlabBytes = 16 * kSlab * 2;
  static_assert(kBlockM % (16 * kWarpsM) == 0 && kBlockN % (8 * kWarpsN) == 0 && kStages >= 2);
};

/// The parameters of a launch of a kernel `K`.
template <class K>
struct AmpereLaunch {
  const AmpereOperands& operands;
  const Order& order;
  const typename K::Feed::Params& feed;
  const typename K::Into& into;
  const Either<K::Feed::kWaits, Run, NoRun>& run;
};

/// The next step of k to copy, ahead of the multiplications.
struct Cursor {
  int tile;
  int step;
  const char* a;  // row 0 of the row block
  int row;        // of A, for this thread's first copy
  int column;     // of C, and row of B, likewise
  int group;      // wave group whose rows this thread has waited for
};

/// The tiles of this CTA, which it begins to copy long before it multiplies them.
struct Tiles {
  static constexpr int kKept = 16;  // more than the tiles whose steps fill the ring
  int taken[kKept];
  int count;
  int next;  // position
};

/// Takes the next tile from the queue, and works off the pushes before it. By all threads. `ahead`:
/// the next position, in thread 0.
template <class K>
__device__ __forceinline__ int take_tile(const AmpereLaunch<K>& launch, Tiles& tiles,
                                         Claim& ahead) {
  const Run& run = launch.run;
  const auto& rows = launch.feed;
  while (true) {
    __syncthreads();  // all have read the last position
    if (threadIdx.x == 0) {
      tiles.next = position_of(run, ahead);
      if (tiles.next >= run.items) {
        tell_left_out(run, ahead.dead);
        ends_queue(run, tiles.next);
      }
    }
    __syncthreads();
    const int position = tiles.next;
    if (position >= run.items) return launch.order.tiles;
    const Turn turn = turn_at(rows, position);
    if (!turn.pushes) return turn.number;
    if (threadIdx.x == 0) ahead = claim(run);
    Push push;
    put_push(rows, turn.number, push);
    // One vector at a time: the registers are full of sums.
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < push.vectors; at += K::kThreads) {
      push.to[at] = read_past_l1(push.from + at);
    }
    __syncthreads();
    if (threadIdx.x == 0) increment(push.counter, 1);
  }
}

/// The begin of a launch: asks for the first position, and, if no gate has met the ranks, meets
/// them before rows are pushed.
template <class K>
__device__ __forceinline__ Claim begin(const AmpereLaunch<K>& launch) {
  const Run& run = launch.run;
  Claim ahead{};
  if (threadIdx.x == 0) ahead = claim(run);
  if (launch.feed.pushes > 0 && run.meets != 0 && threadIdx.x < 32) {
    if (from_lane(ahead.position, 0) == 0) open(run);
    meet(run, gridDim.x);
  }
  return ahead;
}

/// The place of a tile of the CTA.
template <class K>
__device__ __forceinline__ Place place_of_tile(const AmpereLaunch<K>& launch, int tile) {
  if constexpr (K::Feed::kWaits) {
    return K::Feed::template place<K>(launch.order, launch.feed, tile);
  } else {
    return place_of<K::kBlockM, K::kBlockN>(launch.order, tile);
  }
}

/// Moves the cursor to the CTA's next tile. By all threads.
template <class K>
__device__ __forceinline__ void go_on(Cursor& cursor, const AmpereLaunch<K>& launch, Tiles& tiles,
                                      Claim& ahead) {
  const AmpereOperands& operands = launch.operands;
  const Order& order = launch.order;
  int tile;
  if constexpr (K::Feed::kWaits) {
    tile = take_tile(launch, tiles, ahead);
  } else {
    tile = cursor.tile < 0 ? first_tile(order) : next_tile(order, cursor.tile);
  }
  if (threadIdx.x == 0) tiles.taken[tiles.count++ % Tiles::kKept] = tile;
  cursor.tile = tile;
  cursor.step = 0;
  if (tile >= order.tiles) return;
  const Place place = place_of_tile(launch, tile);
  if constexpr (K::Feed::kWaits) {
    K::Feed::wait(launch.run, launch.feed, tile, cursor.group);
    // Not before: it would keep an item that another CTA could work on.
    if (threadIdx.x == 0) ahead = claim(launch.run);
  }
  const int row = static_cast<int>(threadIdx.x) / 8;
  cursor.a = static_cast<const char*>(operands.a) + 2 * place.block * operands.a_block_stride;
  if constexpr (K::Feed::kWaits) {
    if (place.block == launch.feed.own_block) {
      cursor.a = static_cast<const char*>(launch.feed.own);
    }
  }
  cursor.row = place.row + row;
  cursor.column = place.column + row;
}

/// Copies `kCopied` rows of 128 bytes. Rows beyond `last` are copies of it; their products are not
/// stored.
template <class K, int kCopied>
__device__ __forceinline__ void load_rows(u32 to, const char* from, int stride, int row, int last,
                                          u32 bytes) {
  constexpr int kPass =
      K::kThreads / 8;  // rows; a multiple of 8, so that the swizzle stays the same
#pragma unroll
  for (int i = 0; i < kCopied; i += kPass) {
    if (i + kPass > kCopied && static_cast<int>(threadIdx.x) / 8 >= kCopied - i) break;
    const int wanted = row + i;
    const i64 offset = static_cast<i64>(wanted < last ? wanted : last) * stride;
    copy(to + i * K::kRowBytes, from + offset, bytes);
  }
}

/// Copies one step of k of A and B, if there is one left, and moves the cursor to the next.
template <class K>
__device__ __forceinline__ void load_step(Cursor& cursor, const AmpereLaunch<K>& launch,
                                          Tiles& tiles, Claim& ahead, u32 stage) {
  const AmpereOperands& operands = launch.operands;
  const Order& order = launch.order;
  if (cursor.tile < order.tiles) {
    const int row = static_cast<int>(threadIdx.x) / 8;
    const int chunk = static_cast<int>(threadIdx.x) % 8;
    const u32 to = stage + row * K::kRowBytes + (chunk ^ (row & 7)) * 16;
    const int first = cursor.step * K::kBlockK + chunk * 8;
    const int left = operands.k - first;
    const u32 bytes = left >= 8 ? 16 : left > 0 ? 2 * left : 0;
    // The address stays inside the row even where nothing is read.
    const int offset = left > 0 ? 2 * first : 0;
    load_rows<K, K::kBlockM>(to, cursor.a + offset, 2 * operands.a_stride, cursor.row,
                             operands.rows - 1, bytes);
    load_rows<K, K::kBlockN>(to + K::kABytes, static_cast<const char*>(operands.b) + offset,
                             2 * operands.b_stride, cursor.column, operands.n - 1, bytes);
    if (++cursor.step == order.k_steps) {
      go_on(cursor, launch, tiles, ahead);
    }
  }
  end_step();  // an empty step too, because waits count them
}

}  // namespace overlaptune::kernels::device
