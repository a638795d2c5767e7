#pragma once
// The place of a tile in the order, and the tiles that a CTA computes in a launch that never waits
// for other ranks. (Launches that do take them from a queue: waits.cuh.)

#include "kernels/device/parameters.cuh"
#include "kernels/device/ptx/common.cuh"

namespace overlaptune::kernels::device {

/// The place of a tile.
struct Place {
  int block;
  int row;  // in its block
  int column;
};

/// The place of a tile of so many rows and columns in the order.
template <int kRows, int kColumns>
__device__ __forceinline__ Place place_of(const Order& order, int tile) {
  const int swizzle_tiles = order.columns * order.blocks * order.swizzle;
  const int swizzle = tile / swizzle_tiles;
  const int rest = tile - swizzle * swizzle_tiles;
  const int left = order.panels - swizzle * order.swizzle;
  const int height = left < order.swizzle ? left : order.swizzle;
  const int column_tiles = height * order.blocks;
  const int column = rest / column_tiles;
  int in_column = rest - column * column_tiles;
  if (column % 2 != 0) in_column = column_tiles - 1 - in_column;
  const int block = in_column / height;
  const int panel = swizzle * order.swizzle + in_column - block * height;
  return {block, panel * kRows, column * kColumns};
}

__device__ __forceinline__ Place from_lane(const Place& place, int lane) {
  return {from_lane(place.block, lane), from_lane(place.row, lane), from_lane(place.column, lane)};
}

constexpr int kNoTile = 0x7ffffffe;

/// The CTA's first tile after the early ones. The first CTAs have left. Of the others, those that
/// had none of the last early tiles begin.
__device__ __forceinline__ int first_late_tile(const Order& order) {
  const int all = static_cast<int>(gridDim.x);
  const int mine = static_cast<int>(blockIdx.x) - order.leaving;
  if (mine < 0) return kNoTile;
  const int rest = order.early % all;
  const int turn = mine - (rest > order.leaving ? rest - order.leaving : 0);
  return order.early + (turn < 0 ? turn + all - order.leaving : turn);
}

/// Early tiles go to all CTAs in turn, late ones to those that stay.
__device__ __forceinline__ int first_tile(const Order& order) {
  const int mine = static_cast<int>(blockIdx.x);
  return mine < order.early ? mine : first_late_tile(order);
}
__device__ __forceinline__ int next_tile(const Order& order, int tile) {
  const int all = static_cast<int>(gridDim.x);
  if (tile >= order.early) return tile + all - order.leaving;
  return tile + all < order.early ? tile + all : first_late_tile(order);
}

/// The tile that the CTA computes `n` tiles after `tile`.
__device__ __forceinline__ int nth_tile(const Order& order, int tile, int n) {
  const int all = static_cast<int>(gridDim.x);
  if (tile < order.early) {
    const int early = (order.early - 1 - tile) / all;  // of the CTA, after `tile`
    if (n <= early) return tile + n * all;
    n -= early + 1;
    tile = first_late_tile(order);
    if (tile == kNoTile) return kNoTile;
  }
  return tile + n * (all - order.leaving);
}

}  // namespace overlaptune::kernels::device
