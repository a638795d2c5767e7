#pragma once
// A tile of the GEMM with mma.sync: what follows from it, and the copies of A and B into the ring
// of stages.

#include "kernels/device/ptx/ampere.cuh"
#include "kernels/device/tiles.cuh"

namespace overlaptune::kernels::device {

/// A tile, and how a CTA computes it (`AmpereLayout` in kernels/ampere_gemm.hpp). A step of k is
/// 64, one swizzled row of 128 bytes.
struct AmpereTile {
  int block_m;
  int block_n;
  int stages;       ///< of the ring, 2 or more
  int warps_m;      ///< warps that share the rows of a tile
  int warps_n;      ///< warps that share its columns
  int subtile;      ///< columns of C that a warp turns into whole rows at a time: 16, 32 or 64
  Element element;  ///< of A, B and C
};

/// A kernel for a tile and a number of segments of C.
template <AmpereTile kTile, int kSegments>
struct AmpereGemm {
  using Into = IntoRowsParams<kSegments>;
  static constexpr int kBlockM = kTile.block_m;
  static constexpr int kBlockN = kTile.block_n;
  static constexpr int kStages = kTile.stages;
  static constexpr int kWarpsM = kTile.warps_m;
  static constexpr int kWarpsN = kTile.warps_n;
  static constexpr int kSubtile = kTile.subtile;
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
  /// Bytes of a subtile: 16 rows of C.
  static constexpr int kSubtileBytes = 16 * kSubtile * 2;
  static_assert(kBlockM % (16 * kWarpsM) == 0 && kBlockN % (8 * kWarpsN) == 0 && kStages >= 2);
};

/// The parameters of a launch of a kernel `K`.
template <class K>
struct AmpereLaunch {
  const AmpereOperands& operands;
  const Order& order;
  const typename K::Into& into;
};

/// The next step of k to copy, ahead of the multiplications.
struct Cursor {
  int tile;
  int step;
  const char* a;  // row 0 of the row block
  int row;        // of A, for this thread's first copy
  int column;     // of C, and row of B, likewise
};

/// Moves the cursor to the CTA's next tile.
template <class K>
__device__ __forceinline__ void go_on(Cursor& cursor, const AmpereLaunch<K>& launch) {
  const AmpereOperands& operands = launch.operands;
  const Order& order = launch.order;
  cursor.tile = cursor.tile < 0 ? first_tile(order) : next_tile(order, cursor.tile);
  cursor.step = 0;
  if (cursor.tile >= order.tiles) return;
  const Place place = place_of<K::kBlockM, K::kBlockN>(order, cursor.tile);
  const int row = static_cast<int>(threadIdx.x) / 8;
  cursor.a = static_cast<const char*>(operands.a) + 2 * place.block * operands.a_block_stride;
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
                                          u32 stage) {
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
    if (++cursor.step == order.k_steps) go_on(cursor, launch);
  }
  end_step();  // an empty step too, because waits count them
}

}  // namespace overlaptune::kernels::device
