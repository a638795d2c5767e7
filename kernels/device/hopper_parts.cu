// The parts of the GEMM on Hopper (hopper_gemm.cu says which macros there are): the shapes in
// shared memory, the parameters of a launch, and which steps and slabs a CTA and a consumer have.

constexpr int kBlockK = 64;
constexpr int kRowBytes = 2 * kBlockK;
constexpr int kABytes = BLOCK_M * kRowBytes;
constexpr int kBBytes = BLOCK_N * kRowBytes;
constexpr int kStageBytes = kABytes + kBBytes;
/// Columns of the tile, rows of the tensor map of B, that are loaded at a time.
constexpr int kBLoad = BLOCK_N / CLUSTER;
constexpr int kBLoadBytes = kBLoad * kRowBytes;
/// `Tile` in core/tile.hpp: whether the tile is transposed, and the rows and columns of its wgmmas.
constexpr bool kTransposed = BLOCK_M % 64 != 0;
constexpr int kDown = kTransposed ? BLOCK_N : BLOCK_M;
constexpr int kAcross = kTransposed ? BLOCK_M : BLOCK_N;
/// Columns of wgmmas that are staged at a time: the widest swizzled row that divides them.
constexpr int kSlab = kAcross % 64 == 0 ? 64 : kAcross % 32 == 0 ? 32 : 16;
constexpr int kSlabs = kAcross / kSlab;
constexpr int kSlabBytes = 64 * kSlab * 2;
constexpr int kOfOneTile = IN_TURN ? 1 : CONSUMERS;  // consumers of one tile
constexpr int kParts = kDown / 64 / kOfOneTile;    // parts of 64 rows of wgmmas, for each consumer
constexpr int kSlabsOfConsumer = kParts * kSlabs;  // of a tile
constexpr int kAccumulators = kAcross / 2;

// Registers of each thread of the first warpgroup, and of a consumer. Together a CTA cannot have
// more than it was launched with: 168 for each of 384 threads, 128 for each of 512. Launches that
// wait for ranks take more of them in the first warpgroup, if the consumers can spare them.
constexpr bool kSpares = RANKS   ? CONSUMERS == 3 || CLUSTER == 1 || kParts * kAccumulators < 192
                         : WAITS ? CONSUMERS == 3 && kAcross <= 240
                                 : false;
constexpr int kLoaderRegisters = kSpares ? 56 : CONSUMERS == 3 ? 32 : 40;
constexpr int kConsumerRegisters = CONSUMERS == 3   ? (kSpares ? 152 : 160)
                                   : CONSUMERS == 2 ? (kSpares ? 224 : 232)
                                                    : 240;

/// A barrier for each stage when it is full and when it is empty, for each staging buffer when it
/// is filled and when it is free, and for the turns of two consumers.
struct Barriers {
  u64 all[2 * STAGES + 2 * BUFFERS * CONSUMERS + 2];
};

/// Consecutive tiles, up to tile `end` (exclusive), that fill one matrix of every row block. The
/// segment has a tensor map of its own, whose row 0 is row `first_row` of the block, and whose
/// column 0 is column `first_column`.
struct Segment {
  int end;
  int counter;  // counter of its wave group
  int first_row;
  int first_column;
};

/// The order of the tiles, as `TileOrder` in core/tiling.hpp.
struct Order {
  int panels;   // row panels of one row block
  int blocks;   // row blocks
  int columns;  // tiles across n
  int raster;
  int tiles;
  int k_steps;
  int early;      // tiles before the first CTAs leave; whole clusters
  int leaving;    // CTAs that leave then, whole clusters
  int ctas;       // CTAs that share a tile: 1, or 2 where each computes no other tile
  int signal;     // increment by each consumer that has stored its part of a tile
  u32* counters;  // of the wave groups; null: none
  Segment segments[SEGMENTS];
};

struct Outputs {
  TensorMap c[RANKS ? RANKS : SEGMENTS];  // where tiles are stored at ranks, one for each
};

/// The offset in a slab of the 16 bytes of column group `chunk` of a row of C. Rows of 128, 64 or
/// 32 bytes are swizzled as the tensor map of C says.
__device__ __forceinline__ u32 slab_offset(int row, int chunk) {
  constexpr int kColumns = kTransposed ? 64 : kSlab;
  const int turn = kColumns == 64 ? row & 7 : kColumns == 32 ? (row >> 1) & 3 : (row >> 2) & 1;
  return static_cast<u32>(row * kColumns * 2 + (chunk ^ turn) * 16);
}

/// Whether a CTA has work at this tile. A cluster computes its last tile as a whole: a CTA that has
/// no tile of its own left computes its partner's once more, and stores nothing.
__device__ __forceinline__ bool has_tile(const Order& order, int tile) {
  return (CLUSTER == 2 ? tile & ~1 : tile) < order.tiles;
}
__device__ __forceinline__ int computed(const Order& order, int tile) {
  return tile < order.tiles ? tile : tile - 1;
}

/// Whether two CTAs share each tile. (Three consumers have no registers for that.)
__device__ __forceinline__ bool shares_tiles(const Order& order) {
  return CLUSTER == 1 && CONSUMERS < 3 && order.ctas == 2;
}
__device__ __forceinline__ int first_step(const Order& order) {
  return shares_tiles(order) && cluster_rank() == 1 ? (order.k_steps + 1) / 2 : 0;
}
__device__ __forceinline__ int last_step(const Order& order) {
  return shares_tiles(order) && cluster_rank() == 0 ? (order.k_steps + 1) / 2 : order.k_steps;
}
/// Number of columns of slabs, those of the wgmmas, that the first CTA stores; the second CTA
/// stores the others.
constexpr int kFirstSlabs = (kSlabs + 1) / 2;
/// Whether the CTA stores a slab, given by its number among those of a consumer.
__device__ __forceinline__ bool stores(const Order& order, int slab) {
  return !shares_tiles(order) || (slab % kSlabs < kFirstSlabs) == (cluster_rank() == 0);
}

/// The first row of a consumer among the rows of a tile's wgmmas.
__device__ __forceinline__ int first_of(int consumer) {
  return IN_TURN ? 0 : consumer * kParts * 64;
}
/// The place in C of a consumer's first slab, and of another one. `tile`: the place of the tile.
__device__ __forceinline__ Place first_slab(Place tile, int consumer) {
  (kTransposed ? tile.column : tile.row) += first_of(consumer);
  return tile;
}
__device__ __forceinline__ Place place_of_slab(Place first, int slab) {
  (kTransposed ? first.column : first.row) += slab / kSlabs * 64;
  (kTransposed ? first.row : first.column) += slab % kSlabs * kSlab;
  return first;
}

// Slabs pass through the staging buffers of their consumer in turn: in a *pass*, all slabs of a
// tile do, also those that the CTA does not store. Where the buffers divide the slabs, every pass
// begins with the first buffer, and the compiler knows the buffer of each slab.

constexpr bool kWholePasses = kSlabsOfConsumer % BUFFERS == 0;
/// The buffer of a slab, and how often that buffer was used before. `pass`: passes before this one.
__device__ __forceinline__ u32 buffer_of(u32 pass, u32 slab) {
  return (kWholePasses ? slab : pass * kSlabsOfConsumer + slab) % BUFFERS;
}
__device__ __forceinline__ u32 uses_before(u32 pass, u32 slab) {
  return kWholePasses ? pass * (kSlabsOfConsumer / BUFFERS) + slab / BUFFERS
                      : (pass * kSlabsOfConsumer + slab) / BUFFERS;
}
