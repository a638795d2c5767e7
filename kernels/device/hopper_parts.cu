// The parts of the GEMM on Hopper (hopper_gemm.cu says which macros there are): the shapes in shared
// memory, the parameters of a launch, one function for each instruction, the ring of items, and which
// steps and slabs a CTA and a consumer have.

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
constexpr int kParts = kDown / 64 / kOfOneTile;      // parts of 64 rows of wgmmas, for each consumer
constexpr int kSlabsOfConsumer = kParts * kSlabs;    // of a tile
constexpr int kAccumulators = kAcross / 2;

// Registers of each thread of the first warpgroup, and of a consumer. Together a CTA cannot have more
// than it was launched with: 168 for each of 384 threads, 128 for each of 512. Launches that wait for
// ranks take more of them in the first warpgroup, if the consumers can spare them.
constexpr bool kSpares =
    RANKS   ? CONSUMERS == 3 || CLUSTER == 1 || kParts * kAccumulators < 192
    : WAITS ? CONSUMERS == 3 && kAcross <= 240
            : false;
constexpr int kLoaderRegisters = kSpares ? 56 : CONSUMERS == 3 ? 32 : 40;
constexpr int kConsumerRegisters = CONSUMERS == 3   ? (kSpares ? 152 : 160)
                                   : CONSUMERS == 2 ? (kSpares ? 224 : 232)
                                                    : 240;

struct alignas(64) TensorMap {
  char opaque[128];
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
  int early;    // tiles before the first CTAs leave; whole clusters
  int leaving;  // CTAs that leave then, whole clusters
  int ctas;     // CTAs that share a tile: 1, or 2 where each computes no other tile
  int signal;   // increment by each consumer that has stored its part of a tile
  u32* counters;  // of the wave groups; null: none
  Segment segments[SEGMENTS];
};

struct Outputs {
  TensorMap c[RANKS ? RANKS : SEGMENTS];  // where tiles are stored at ranks, one for each
};

__device__ __forceinline__ void barrier_init(u32 barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(u32 barrier, u32 phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra.uni ready;\n"
      "bra.uni again;\n"
      "ready:\n"
      "}\n" ::"r"(barrier),
      "r"(phase)
      : "memory");
}

/// Read anew each time: a copy takes a register.
__device__ __forceinline__ u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// The address in the other CTA of the cluster that corresponds to `address` in this one.
__device__ __forceinline__ u32 at_other(u32 address) {
  u32 there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(cluster_rank() ^ 1));
  return there;
}

/// A barrier of all threads of both CTAs.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/// Stores a word in the other CTA, whose barrier counts its bytes.
__device__ __forceinline__ void send_to_other(u32 to, u32 value, u32 barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(at_other(to)),
      "r"(value), "r"(at_other(barrier))
      : "memory");
}

__device__ __forceinline__ void barrier_arrive_at_other(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(at_other(barrier)) : "memory");
}

__device__ __forceinline__ void prefetch(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__device__ __forceinline__ void load(u32 to, const TensorMap* map, u32 barrier, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// Loads to the same place in both CTAs; the barrier of each counts the bytes.
__device__ __forceinline__ void load_for_both(u32 to, const TensorMap* map, u32 barrier, int x, int y,
                                              int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(static_cast<short>(3))
      : "memory");
}

__device__ __forceinline__ void store(const TensorMap* map, u32 from, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
      "r"(from), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// Loads consecutive bytes; the barrier counts them. Addresses and size: multiples of 16.
__device__ __forceinline__ void load_bytes(u32 to, const char* from, u32 barrier, u32 bytes) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

__device__ __forceinline__ void store_bytes(char* to, u32 from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
}

/// The matrix descriptor of swizzled 128-byte rows: 1024 bytes from one group of 8 rows to the
/// next.
__device__ __forceinline__ u64 descriptor(u32 address) {
  return (u64{1} << 62) | (u64{1024 >> 4} << 32) | (u64{1} << 16) | ((address & 0x3ffff) >> 4);
}

/// The offset in a slab of the 16 bytes of column group `chunk` of a row of C. Rows of 128, 64 or 32
/// bytes are swizzled as the tensor map of C says.
__device__ __forceinline__ u32 slab_offset(int row, int chunk) {
  constexpr int kColumns = kTransposed ? 64 : kSlab;
  const int turn = kColumns == 64 ? row & 7 : kColumns == 32 ? (row >> 1) & 3 : (row >> 2) & 1;
  return static_cast<u32>(row * kColumns * 2 + (chunk ^ turn) * 16);
}

/// Whether a CTA has work at this tile. A cluster computes its last tile as a whole: a CTA that has no
/// tile of its own left computes its partner's once more, and stores nothing.
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
/// Number of columns of slabs, those of the wgmmas, that the first CTA stores; the second CTA stores
/// the others.
constexpr int kFirstSlabs = (kSlabs + 1) / 2;
/// Whether the CTA stores a slab, given by its number among those of a consumer.
__device__ __forceinline__ bool stores(const Order& order, int slab) {
  return !shares_tiles(order) || (slab % kSlabs < kFirstSlabs) == (cluster_rank() == 0);
}

// A CTA's work reaches its warps through a ring of items in shared memory. The loading warp puts in
// what comes next, and loads for it; the others take it out. Consumers that take turns have every
// other item.

constexpr int kItems = 4;  // of the ring: an even number
constexpr int kStride = IN_TURN ? 2 : 1;

enum What : int {
  kTile,
  kTwin,  // the tile of the other CTA of the cluster, once more; nothing is stored
  kPush,  // rows for a peer, which pass through the stages
  kEnd,
};
struct alignas(16) Item {
  int what;
  int block;  // of a tile: its place
  int row;
  int column;
  int steps;  // of k that were loaded before it
  int index;  // of the tile in the order; of a push; where tiles are stored at ranks, the wave group
  int owner;  // of a tile that is stored at a rank, and its slot there
  int slot;
};

struct alignas(16) Items {
  Item items[kItems];
  u64 full[kItems];
  u64 empty[kItems];
  // For the second CTA of a cluster: what the first one has taken from the queue for both.
  u64 claimed[2];
  u64 read[2];
  int claims[2];
  u32 tasks[CONSUMERS];  // of a kernel that stores at ranks
  int opens;             // whether the CTA has the queue's first item
  volatile int ended;    // whether it has taken the last position that there is
#if WAITS
  // A push lies in the slot of its item. `described`: the storing warp has put it there. `reached`:
  // the consumers have come to it. `loaded`: its last rows are in the ring of stages.
  volatile Push pushes[kItems];
  u64 described;
  u64 met;  // in a launch that meets the ranks itself: it has
  // The loading thread's own: it has few registers.
  volatile int arrived;   // the last group whose rows are there
  volatile u32 described_before;
  u64 reached[CONSUMERS];
  u64 loaded[CONSUMERS];
#endif
};

__device__ __forceinline__ void init(Items& items) {
  items.ended = 0;
  for (int i = 0; i < kItems; ++i) {
    barrier_init(shared_address(items.full + i), 1);
    barrier_init(shared_address(items.empty + i), kOfOneTile);
  }
  for (int i = 0; i < 2; ++i) {
    barrier_init(shared_address(items.claimed + i), 1);
    barrier_init(shared_address(items.read + i), 1);
    barrier_expect(shared_address(items.claimed + i), sizeof(int));
  }
#if WAITS
  items.arrived = -1;
  items.described_before = 0;
  barrier_init(shared_address(&items.described), 1);
  barrier_init(shared_address(&items.met), 1);
  for (int i = 0; i < CONSUMERS; ++i) {
    barrier_init(shared_address(items.reached + i), 128 * kOfOneTile);
    barrier_init(shared_address(items.loaded + i), 1);
  }
#endif
}

/// Waits until item number `number` may be put in. By one thread, as `put`.
__device__ __forceinline__ void wait_for_slot(const Items& items, u32 number) {
  barrier_wait(shared_address(items.empty + number % kItems), (number / kItems & 1) ^ 1);
}

__device__ __forceinline__ void put(Items& items, u32 number, const Item& item) {
  const u32 slot = number % kItems;
  items.items[slot] = item;
  barrier_arrive(shared_address(items.full + slot));
}

/// Waits for item number `number`, and reads it. Every thread of a consumer may.
__device__ __forceinline__ Item taken(const Items& items, u32 number) {
  const u32 slot = number % kItems;
  barrier_wait(shared_address(items.full + slot), number / kItems & 1);
  return items.items[slot];
}

/// By one thread for each consumer of the item, after all threads of that consumer have read it.
__device__ __forceinline__ void give_back(const Items& items, u32 number) {
  barrier_arrive(shared_address(items.empty + number % kItems));
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

// Slabs pass through the staging buffers of their consumer in turn: in a *pass*, all slabs of a tile
// do, also those that the CTA does not store. Where the buffers divide the slabs, every pass begins
// with the first buffer, and the compiler knows the buffer of each slab.

constexpr bool kWholePasses = kSlabsOfConsumer % BUFFERS == 0;
/// The buffer of a slab, and how often that buffer was used before. `pass`: passes before this one.
__device__ __forceinline__ u32 buffer_of(u32 pass, u32 slab) {
  return (kWholePasses ? slab : pass * kSlabsOfConsumer + slab) % BUFFERS;
}
__device__ __forceinline__ u32 uses_before(u32 pass, u32 slab) {
  return kWholePasses ? pass * (kSlabsOfConsumer / BUFFERS) + slab / BUFFERS
                      : (pass * kSlabsOfConsumer + slab) / BUFFERS;
}
