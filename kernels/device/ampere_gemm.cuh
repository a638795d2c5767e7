#pragma once
// C = A * B^T with mma.sync: A is rows x k, B is n x k, C is rows x n, all row-major, 2-byte
// elements, sums in fp32. For sm_80 and sm_89, and for any later GPU that has no kernel of its own.
// A persistent launch has one CTA on each SM. All threads copy tiles of A and B into a ring of
// stages (ampere_copies.cuh), always one step of k less than it has stages ahead. They copy ahead
// past the end of a tile, too: the first steps of the next tile arrive while C is stored. Each wave
// group has a counter; it is incremented when one of the group's tiles is in memory.

#include "kernels/device/ampere_copies.cuh"

namespace overlaptune::kernels::device {

/// The operands that a warp multiplies at a time: 16 elements of k.
template <class K>
struct Fragments {
  u32 a[K::kDown][4];
  u32 b[K::kAcross][2];
};

/// Loads the operands of part `k` of a stage. `a` and `b`: the addresses in the stage that this
/// lane gives for k = 0.
template <class K>
__device__ __forceinline__ void load_fragments(Fragments<K>& fragments, u32 a, u32 b, int k) {
  // Column group 2 * k + (0 or 1) of a row. The swizzle is an exclusive or, so another one with
  // these bits turns the address for k = 0 into the address for k.
  const u32 turned_a = a ^ (32 * k);
  const u32 turned_b = b ^ (32 * k);
#pragma unroll
  for (int i = 0; i < K::kDown; ++i) load_four(fragments.a[i], turned_a + i * 16 * K::kRowBytes);
#pragma unroll
  for (int i = 0; i + 1 < K::kAcross; i += 2) {
    u32 two[4];
    load_four(two, turned_b + i * 8 * K::kRowBytes);
    fragments.b[i][0] = two[0];
    fragments.b[i][1] = two[1];
    fragments.b[i + 1][0] = two[2];
    fragments.b[i + 1][1] = two[3];
  }
  if (K::kAcross % 2 == 1) {
    load_two(fragments.b[K::kAcross - 1], turned_b + (K::kAcross - 1) * 8 * K::kRowBytes);
  }
}

/// The offset in a subtile of the 16 bytes of column group `chunk` of a row. It is swizzled, so
/// that neither 8 rows of one column group nor the groups of a row meet in a bank.
template <class K>
__device__ __forceinline__ u32 offset_in_subtile(int row, int chunk) {
  const int turn = K::kSubtile == 64   ? row & 7
                   : K::kSubtile == 32 ? (row >> 1) & 3
                                       : (row >> 2) & 1;
  return static_cast<u32>(row * K::kSubtile * 2 + (chunk ^ turn) * 16);
}

/// Stores this warp's part of a tile through the warp's own subtile, so that no other warp is
/// waited for. `c`: the address that row 0 and column 0 of the row block would have.
template <class K>
__device__ __forceinline__ void store(const float (&sums)[K::kDown][K::kAcross][4], char* c,
                                      i64 stride, int row, int rows, int column, int n,
                                      u32 subtile) {
  int lane = static_cast<int>(threadIdx.x) % 32;
  forget(lane);
#pragma unroll
  for (int i = 0; i < K::kDown; ++i) {
#pragma unroll
    for (int first = 0; first < K::kAcross; first += K::kSubtile / 8) {
      const int chunks =
          K::kAcross - first < K::kSubtile / 8 ? K::kAcross - first : K::kSubtile / 8;
#pragma unroll
      for (int j = 0; j < chunks; ++j) {
        const float(&sum)[4] = sums[i][first + j];
        put(subtile + offset_in_subtile<K>(lane / 4, j) + lane % 4 * 4,
            packed<K::kElement>(sum[0], sum[1]));
        put(subtile + offset_in_subtile<K>(lane / 4 + 8, j) + lane % 4 * 4,
            packed<K::kElement>(sum[2], sum[3]));
      }
      __syncwarp();
#pragma unroll
      for (int round = 0; round < 16 * chunks; round += 32) {
        const int piece = round + lane;
        if (piece >= 16 * chunks) break;  // half a warp is enough for the last odd chunk
        const int in_subtile = piece / chunks;
        const int chunk = piece - in_subtile * chunks;
        const int to_row = row + i * 16 + in_subtile;
        const int to_column = column + (first + chunk) * 8;
        if (to_row < rows && to_column < n) {
          deliver(c + 2 * (to_row * stride + to_column),
                  subtile + offset_in_subtile<K>(in_subtile, chunk));
        }
      }
      __syncwarp();
    }
  }
}

/// The work of a CTA.
template <class K>
__device__ __forceinline__ void compute_tiles(const AmpereLaunch<K>& launch) {
  const AmpereOperands& operands = launch.operands;
  const Order& order = launch.order;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first_row = warp / K::kWarpsN * K::kRows;
  const int first_column = warp % K::kWarpsN * K::kColumns;
  const u32 ring = shared_address(aligned_memory());
  const u32 end = ring + K::kStages * K::kStageBytes;
  const u32 subtile = end + warp * K::kSubtileBytes;
  // This lane gives the address of one row of four 8 x 8 matrices. For A they are rows 0-7 and 8-15
  // of the first 8 of k, then of the second. For B they are the first and second 8 of k of rows
  // 0-7, then of rows 8-15.
  const u32 a_row = first_row + lane % 16;
  const u32 a_offset = a_row * K::kRowBytes + ((lane / 16) ^ (a_row & 7)) * 16;
  const u32 b_row = first_column + lane / 16 * 8 + lane % 8;
  const u32 b_offset = K::kABytes + b_row * K::kRowBytes + ((lane / 8 & 1) ^ (b_row & 7)) * 16;

  Cursor ahead;
  ahead.tile = -1;
  go_on(ahead, launch);
#pragma unroll 1
  for (u32 filled = ring; filled != end; filled += K::kStageBytes) {
    load_step(ahead, launch, filled);
  }
  wait_for_steps<K::kStages - 1>();
  __syncthreads();
  Fragments<K> fragments[2];
  load_fragments(fragments[0], ring + a_offset, ring + b_offset, 0);

  u32 stage = ring;
  int index = 0;
  for (int tile = first_tile(order); tile < order.tiles; tile = next_tile(order, tile)) {
    float sums[K::kDown][K::kAcross][4] = {};
#pragma unroll 1
    for (int step = 0; step < order.k_steps; ++step) {
      const u32 next = stage + K::kStageBytes == end ? ring : stage + K::kStageBytes;
#pragma unroll
      for (int k = 0; k < K::kDeep; ++k) {
        if (k + 1 < K::kDeep) {
          load_fragments(fragments[(k + 1) % 2], stage + a_offset, stage + b_offset, k + 1);
        } else {
          // Only the last K::kStages - 2 steps may still be under way: this thread's copies of the
          // next step have arrived. After the barrier the whole step is here, and no thread reads
          // this stage any more. (After the very last step the next stage holds an old one, whose
          // operands are not multiplied.)
          wait_for_steps<K::kStages - 2>();
          __syncthreads();
          load_fragments(fragments[0], next + a_offset, next + b_offset, 0);
          load_step(ahead, launch, stage);
        }
#pragma unroll
        for (int i = 0; i < K::kDown; ++i) {
#pragma unroll
          for (int j = 0; j < K::kAcross; ++j) {
            multiply<K::kElement>(sums[i][j], fragments[k % 2].a[i], fragments[k % 2].b[j]);
          }
        }
      }
      stage = next;
    }

    while (tile >= launch.into.segments[index].tiles.end) ++index;
    const StridedSegment& segment = launch.into.segments[index];
    const Place place = place_of<K::kBlockM, K::kBlockN>(order, tile);
    char* c = static_cast<char*>(segment.c) +
              2 * (place.block * segment.block_stride -
                   segment.tiles.first_row * segment.row_stride - segment.tiles.first_column);
    store<K>(sums, c, segment.row_stride, place.row + first_row, operands.rows,
             place.column + first_column, operands.n, subtile);
    if (order.counters != nullptr) {
      __syncthreads();
      if (threadIdx.x == 0) signal(order.counters + segment.tiles.counter);
    }
  }
  if (threadIdx.x == 0) wait_for_launch_before();
}

template <AmpereTile kTile, int kSegments>
__global__ void __launch_bounds__(32 * kTile.warps_m * kTile.warps_n, 1)
    ampere_gemm(const __grid_constant__ AmpereOperands operands,
                const __grid_constant__ Order order,
                const __grid_constant__ IntoRowsParams<kSegments> into) {
  compute_tiles(AmpereLaunch<AmpereGemm<kTile, kSegments>>{operands, order, into});
}

}  // namespace overlaptune::kernels::device
