// The common part of the generated GEMMs, in front of the text of each: the tiles that a CTA
// computes, the place of a tile, the wait for its rows of A, and small helpers. It uses the macros
// BLOCK_M, BLOCK_N and HALF of the text that follows, and
//   WAITS     most wave groups whose rows a launch waits for; 0: all rows are there
//   RANKS     ranks at which a launch stores its tiles (peer_store.cu); 0: it stores into C
//   PATIENCE  nanoseconds after which a wait ends in an error of the GPU

using u64 = unsigned long long;

using u32 = unsigned;

/// The place of a tile.
struct Place {
  int block;
  int row;  // in its block
  int column;
};

/// The place of a tile in the order. `Order`: the fields of `TileOrder` (core/tiling.hpp), by these
/// names.
template <class Order>
__device__ __forceinline__ Place place_of(const Order& order, int tile) {
  const int swizzle_tiles = order.columns * order.blocks * order.raster;
  const int swizzle = tile / swizzle_tiles;
  const int rest = tile - swizzle * swizzle_tiles;
  const int left = order.panels - swizzle * order.raster;
  const int height = left < order.raster ? left : order.raster;
  const int column_tiles = height * order.blocks;
  const int column = rest / column_tiles;
  int in_column = rest - column * column_tiles;
  if (column % 2 != 0) in_column = column_tiles - 1 - in_column;
  const int block = in_column / height;
  const int panel = swizzle * order.raster + in_column - block * height;
  return {block, panel * BLOCK_M, column * BLOCK_N};
}

__device__ __forceinline__ int from_lane(int value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}
__device__ __forceinline__ Place from_lane(const Place& place, int lane) {
  return {from_lane(place.block, lane), from_lane(place.row, lane), from_lane(place.column, lane)};
}

constexpr int kNoTile = 0x7ffffffe;

/// The CTA's first tile after the early ones. The first CTAs have left. Of the others, those that
/// had none of the last early tiles begin. `Order` also has `early` (tiles) and `leaving` (CTAs).
template <class Order>
__device__ __forceinline__ int first_late_tile(const Order& order) {
  const int all = static_cast<int>(gridDim.x);
  const int mine = static_cast<int>(blockIdx.x) - order.leaving;
  if (mine < 0) return kNoTile;
  const int rest = order.early % all;
  const int turn = mine - (rest > order.leaving ? rest - order.leaving : 0);
  return order.early + (turn < 0 ? turn + all - order.leaving : turn);
}

/// Early tiles go to all CTAs in turn, late ones to those that stay.
template <class Order>
__device__ __forceinline__ int first_tile(const Order& order) {
  const int mine = static_cast<int>(blockIdx.x);
  return mine < order.early ? mine : first_late_tile(order);
}
template <class Order>
__device__ __forceinline__ int next_tile(const Order& order, int tile) {
  const int all = static_cast<int>(gridDim.x);
  if (tile >= order.early) return tile + all - order.leaving;
  return tile + all < order.early ? tile + all : first_late_tile(order);
}

/// The tile that the CTA computes `n` tiles after `tile`.
template <class Order>
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

#if WAITS
/// Consecutive tiles, up to tile `end` (exclusive), whose rows of A are there when `*counter` is at
/// least `value`.
struct Arrival {
  int end;
  u32 value;
  const u32* counter;  // null: they are there
};

/// The rows that the peers of a launch send: `ArrivalOrder` (core/arrivals.hpp).
struct Peers {
  const void* own;  // the row block that needs no copy; its number is `own_block`
  int own_block;
  int blocks;  // row blocks
  int block_tiles;
  int arrivals_count;
  Arrival arrivals[WAITS];
};

/// The place of a tile: row block after row block, from the rank's own one downwards. In `order`
/// there is one block.
template <class Order>
__device__ __forceinline__ Place place_in(const Order& order, const Peers& peers, int tile,
                                          int /*group*/ = -1) {
  const int turn = tile / peers.block_tiles;
  Place place = place_of(order, tile - turn * peers.block_tiles);
  place.block = peers.own_block - turn + (turn > peers.own_block ? peers.blocks : 0);
  return place;
}

/// Waits until the rows of the tile are there. `group`: the wave group that this thread waited for
/// last, -1 at first; it ascends with the tiles. The rows may then be read in any way: by this
/// thread, or by copies that it starts.
__device__ __forceinline__ void wait_for_rows(const Peers& peers, int tile, int& group) {
  if (group >= 0 && tile < peers.arrivals[group].end) return;
  do {
    ++group;
  } while (tile >= peers.arrivals[group].end);
  const u32* counter = peers.arrivals[group].counter;
  if (counter == nullptr) return;
  const u32 needed = peers.arrivals[group].value;
  u64 start = 0;
  // The clock is looked at now and then only: that takes about as long as a look at the counter.
  for (u32 looks = 1;; ++looks) {
    u32 value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
    if (value >= needed) break;
    if (looks % 16 != 0) continue;
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (start == 0) start = now;
    if (now - start > PATIENCE) asm volatile("trap;");
  }
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async;" ::: "memory");  // TMA reads what the counter says is there
#endif
}
#elif !RANKS
struct Peers {};
template <class Order>
__device__ __forceinline__ Place place_in(const Order& order, const Peers&, int tile,
                                          int /*group*/ = -1) {
  return place_of(order, tile);
}
__device__ __forceinline__ void wait_for_rows(const Peers&, int, int&) {}
#endif

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
