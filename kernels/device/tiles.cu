// What our GEMMs have in common, in front of the text of each: where a tile lies, and small things.
// Uses the macros BLOCK_M, BLOCK_N and HALF of whoever follows.

using u32 = unsigned;

/// Of a tile.
struct Place {
  int block;
  int row;  // in its block
  int column;
};

/// `Order`: as core/tiling.hpp's TileOrder, by the names of its fields.
template <class Order>
__device__ __forceinline__ Place place_of(const Order& order, int tile) {
  const int super_tiles = order.columns * order.blocks * order.raster;
  const int super = tile / super_tiles;
  const int rest = tile - super * super_tiles;
  const int left = order.panels - super * order.raster;
  const int height = left < order.raster ? left : order.raster;
  const int column_tiles = height * order.blocks;
  const int column = rest / column_tiles;
  const int in_column = rest - column * column_tiles;
  const int block = in_column / height;
  const int panel = super * order.raster + in_column - block * height;
  return {block, panel * BLOCK_M, column * BLOCK_N};
}

__device__ __forceinline__ u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ u32 packed(float low, float high) {
  u32 pair;
#if HALF
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#else
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#endif
  return pair;
}
