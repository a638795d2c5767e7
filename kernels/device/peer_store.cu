// The part of the GEMM on Hopper that stores each tile at the rank that owns it (`peer_store`).
// hopper_gemm.cu has this text in front of it where RANKS is not 0.
//
// A tile passes through the staging buffers of its consumer slab by slab. A buffer is used again and
// again, each time in three steps: the storing thread *grants* it to the consumer, the consumer
// *fills* it, and the storing thread *finishes* it. What happens depends on the tile:
//
//   tile of another rank   granted empty; filled with a slab of the tile; finished by a store into
//                          the owner's slot, in the order of the consumer's registers
//   own tile               for each peer, granted with the slab that the peer has stored here; the
//                          consumer adds it to its sums. In place of the last one the consumer fills
//                          in the sum, and a store into C finishes it
//   gemm_all_to_all        granted empty; finished by a store into the owner's C
//
// The storing thread turns to a tile when it has finished the one before it: mostly while the tile is
// still multiplied. So what peers have stored for an own tile is loaded beside the multiplication.
//
// Ranks cannot wait for each other in a circle: a tile waits for tiles of the peers that come earlier
// in the order of every rank, and the storing thread has then finished all its earlier tiles.
//
// Macros:
//   RANKS   ranks that exchange tiles, at least 2
//   GROUPS  most wave groups of a launch
// Source: the idea of an epilogue that stores into the owner's memory is FLUX's (Chang et al. 2024,
// section 3).

/// The words of a rank, which all ranks reach: `StoreWords` in kernels/peers.hpp.
struct StoreWords {
  u32 counters[192];  // of each group: the peers' increments for tiles stored here
  u32 done;           // the peers' increments for tiles stored into C
  u32 ticket;         // CTAs that have ended
  u32 open;           // the run that `counters` and `done` are for
  u32 unused;
  u32 runs[64];   // runs with each rank so far; they change when a run ends
  u32 ready[64];  // the run for which each rank may be stored to, by that rank
};

/// A wave group of `StoreOrder` (core/store_order.hpp).
struct Group {
  int end;       // tiles of a row block (gemm_all_reduce: of C) up to the end of the group
  int slot;      // slot of an owner's first tile
  u32 arrivals;  // the group's counter when all that this rank owns has arrived
};

/// A set of ranks.
#if RANKS > 32
using Ranks = u64;
#else
using Ranks = u32;
#endif

struct Peers {
  int rank;
  int owns_blocks;  // rank r owns row block r; else a part of each group, and its sums go to all
  int adds;         // the sum of all ranks is the result; else each tile is
  int slots;        // of a rank, for each peer
  int groups_count;
  u32 done;  // the value of `done` when all tiles of the peers have arrived in C; 0: none come
  char* slots_of[RANKS];
  StoreWords* words[RANKS];
  Group groups[GROUPS];
};

/// `StoredTile` of core/store_order.hpp.
struct Stored {
  int group;
  int owner;
  int tile;
  int slot;
};

/// `group`: that of a tile nearby, if any; the search begins there.
__device__ __forceinline__ Stored stored(const Peers& peers, int position, int group) {
  const int times = peers.owns_blocks ? RANKS : 1;
  group = group < 0 ? 0 : group;
  while (position >= peers.groups[group].end * times) ++group;
  while (group > 0 && position < peers.groups[group - 1].end * times) --group;
  const int first = group > 0 ? peers.groups[group - 1].end : 0;
  const int count = peers.groups[group].end - first;
  int rest = position - first * times;
  int begin = first;
  int owner = peers.rank + 1;
  if (peers.owns_blocks) {
    for (; rest >= count; rest -= count) ++owner;
    owner %= RANKS;
  } else {
#pragma unroll 1  // unrolled, these loops take too many registers
    for (int turn = 1; turn <= RANKS; ++turn) {
      owner = (peers.rank + turn) % RANKS;
      begin = first + static_cast<int>(static_cast<long long>(count) * owner / RANKS);
      const int size =
          first + static_cast<int>(static_cast<long long>(count) * (owner + 1) / RANKS) - begin;
      if (rest < size) break;
      rest -= size;
    }
  }
  return {group, owner, begin + rest, peers.groups[group].slot + rest};
}

/// The place of a tile. In `order` there is one block. `group`: as of `stored`.
template <class Order>
__device__ __forceinline__ Place place_in(const Order& order, const Peers& peers, int position,
                                          int group) {
  const Stored at = stored(peers, position, group);
  Place place = place_of(order, at.tile);
  place.block = peers.owns_blocks ? at.owner : 0;
  return place;
}
/// All rows are there. `group` becomes that of the tile.
__device__ __forceinline__ void wait_for_rows(const Peers& peers, int position, int& group) {
  group = stored(peers, position, group).group;
}

/// What a consumer does with the slabs of a tile.
enum Task : u32 {
  kFill,          // as without peers
  kFillForOwner,  // the slab goes to a slot of the owner
  kAddAndFill,    // what the peers have stored comes first
};
__device__ __forceinline__ Task task_of(const Peers& peers, int owner) {
  return !peers.adds ? kFill : owner == peers.rank ? kAddAndFill : kFillForOwner;
}
/// Whether other ranks have to know when the tile is stored.
__device__ __forceinline__ bool peers_see(const Peers& peers, int owner) {
  return owner != peers.rank || !peers.owns_blocks;
}

// Words and waits. Runs and counters are compared as numbers that wrap.

__device__ __forceinline__ bool has_reached(const u32* word, u32 value) {
  u32 now;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
  return static_cast<int>(now - value) >= 0;
}

/// Ends in an error of the GPU where a wait that began at `since` takes too long. Times are in units
/// of 2^20 ns; 0: now.
__device__ __forceinline__ void check_patience(u32& since) {
  u64 time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  const u32 now = static_cast<u32>(time >> 20);
  if (since == 0) since = now;
  if (now - since > static_cast<u32>(PATIENCE >> 20)) asm volatile("trap;");
}

__device__ __forceinline__ void wait_until(const u32* word, u32 value) {
  for (u32 since = 0; !has_reached(word, value);) check_patience(since);
}

__device__ __forceinline__ void increment(u32* word, u32 by) {
  asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(word), "r"(by) : "memory");
}

__device__ __forceinline__ void publish(u32* word, u32 value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

/// The begin of a run, by one warp of the first CTA: what the last run counted is reset; then the
/// peers may store here.
__device__ __forceinline__ void open(const Peers& peers) {
  StoreWords* own = peers.words[peers.rank];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int i = lane; i < 192; i += 32) own->counters[i] = 0;
  if (lane == 0) own->done = 0;
  __threadfence_system();
  __syncwarp();
  for (int rank = lane; rank < RANKS; rank += 32) {
    if (rank == peers.rank) {
      publish(&own->open, own->runs[rank] + 1);
    } else {
      publish(&peers.words[rank]->ready[peers.rank], own->runs[rank] + 1);
    }
  }
}

/// The end of a run, by one thread of each CTA after the CTA's work. The last one waits for the
/// tiles that peers store into C, and counts the run.
__device__ __forceinline__ void close(const Peers& peers) {
  StoreWords* own = peers.words[peers.rank];
  __threadfence();
  if (atomicAdd(&own->ticket, 1) + 1 < gridDim.x) return;
  if (peers.done != 0) wait_until(&own->done, peers.done);
  own->ticket = 0;
#pragma unroll 1
  for (int rank = 0; rank < RANKS; ++rank) own->runs[rank] += 1;
}

// Uses of the staging buffers.

/// The consumer's first tile, and the one after `tile`.
__device__ __forceinline__ int first_tile_of(const Order& order, int consumer) {
  const int tile = own_tile(order);
  return is_mine(0, consumer) ? tile : next_tile(order, tile);
}
__device__ __forceinline__ int next_tile_of(const Order& order, int tile) {
  tile = next_tile(order, tile);
  return IN_TURN ? next_tile(order, tile) : tile;
}

/// A use of a buffer: a slab, among those of the consumer, and for `kAddAndFill` the number of the
/// peer whose sums are added, not counting this rank.
struct Use {
  int slab = -1;
  int source = 0;
};
constexpr int kSlabsOfConsumer = kParts * kSlabs;
constexpr long long kTileBytes = BLOCK_M * BLOCK_N * 2;

__device__ __forceinline__ void go_on(Use& use, const Order& order, int sources) {
  if (use.slab >= 0 && ++use.source < sources) return;
  use.source = 0;
  do {
    ++use.slab;
  } while (use.slab < kSlabsOfConsumer && !stores(order, use.slab % kSlabs));
}

/// The consumer's first slab of a tile in the slots of `owner`, for the sums of peer number `source`.
__device__ __forceinline__ char* in_slot(const Peers& peers, int owner, int source, int slot,
                                         int consumer) {
  return peers.slots_of[owner] +
         (static_cast<long long>(source) * peers.slots + slot) * kTileBytes +
         row_of(consumer) / 64 * kSlabs * kSlabBytes;
}

/// Waits, before the first store to a rank, until that rank may be stored to.
__device__ __forceinline__ void meet(const Peers& peers, int rank, Ranks& met) {
  if (rank == peers.rank || (met >> rank & 1) != 0) return;
  const StoreWords* own = peers.words[peers.rank];
  wait_until(&own->ready[rank], own->runs[rank] + 1);
  asm volatile("fence.proxy.async;" ::: "memory");  // TMA writes where the rank has read before
  met |= Ranks{1} << rank;
}

/// Starts the store of a slab of C, whose first row and column are given.
__device__ __forceinline__ void store_in_c(const Outputs& outputs, const Peers& peers, int owner,
                                           int row, int column, u32 buffer, Ranks& met) {
  const int count = peers.owns_blocks ? 1 : RANKS;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    const int rank = peers.owns_blocks ? owner : (peers.rank + i) % RANKS;
    meet(peers, rank, met);
    store(&outputs.c[rank], buffer, column, row, 0);
  }
}

/// Tells the ranks to which the consumer has stored its part of a tile, once they may be written to:
/// where two CTAs share a tile of one slab, the second has nothing to store, and has met no rank.
__device__ __forceinline__ void signal_stored(const Order& order, const Peers& peers,
                                              const Stored& at, Ranks& met) {
  if (at.owner != peers.rank) {
    meet(peers, at.owner, met);
    StoreWords* theirs = peers.words[at.owner];
    increment(peers.adds ? &theirs->counters[at.group] : &theirs->done, order.signal);
  } else if (!peers.owns_blocks) {
#pragma unroll 1
    for (int turn = 1; turn < RANKS; ++turn) {
      const int rank = (peers.rank + turn) % RANKS;
      meet(peers, rank, met);
      increment(&peers.words[rank]->done, order.signal);
    }
  }
}

/// The work of the thread that stores for one consumer. `task`: a word in shared memory, which tells
/// the consumer what to do with the tile whose first buffer is granted.
__device__ __forceinline__ void deliver_to_owners(const Outputs& outputs, const Order& order,
                                                  const Peers& peers, int consumer, u32 slabs,
                                                  u32 filled, u32 free, u32 task) {
  /// Stores that may still read their buffers when the next one has been started.
  constexpr int kReading = BUFFERS > 1 ? 1 : 0;
  const StoreWords* own = peers.words[peers.rank];
  wait_until(&own->open, own->runs[peers.rank] + 1);
  Ranks met = 0;
  u32 grants = 0;  // numbers of uses; each takes the next buffer
  u32 finishes = 0;
  int group = -1;
  for (int tile = first_tile_of(order, consumer); tile < order.tiles;
       tile = next_tile_of(order, tile)) {
    const Stored at = stored(peers, tile, group);
    group = at.group;
    const Task todo = task_of(peers, at.owner);
    const int sources = todo == kAddAndFill ? RANKS - 1 : 1;
    // Where slabs come from, or go to; and the first row and column of those in C.
    char* slot = nullptr;
    Place place{};
    if (todo == kFillForOwner) {
      slot = in_slot(peers, at.owner, peers.rank - (peers.rank > at.owner ? 1 : 0), at.slot,
                     consumer);
    } else {
      place = place_of(order, at.tile);
      place.row += row_of(consumer);
    }
    if (todo == kAddAndFill) {
      slot = in_slot(peers, peers.rank, 0, at.slot, consumer);
      wait_until(&own->counters[at.group], peers.groups[at.group].arrivals);
      asm volatile("fence.proxy.async;" ::: "memory");  // TMA reads what the counter says is there
    }
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(task), "r"(static_cast<u32>(todo)) : "memory");
    Use next;  // to be granted
    const auto grant_ahead = [&](u32 still_reading) {
#pragma unroll 1
      while (next.slab < kSlabsOfConsumer && grants - finishes + still_reading < BUFFERS) {
        const u32 buffer = grants++ % BUFFERS;
        if (todo == kAddAndFill) {
          barrier_expect(free + 8 * buffer, kSlabBytes);
          load_bytes(slabs + buffer * kSlabBytes,
                     slot + next.source * peers.slots * kTileBytes + next.slab * kSlabBytes,
                     free + 8 * buffer, kSlabBytes);
        } else {
          barrier_arrive(free + 8 * buffer);
        }
        go_on(next, order, sources);
      }
    };
    go_on(next, order, sources);
    Use use = next;
    grant_ahead(0);
#pragma unroll 1
    for (; use.slab < kSlabsOfConsumer; go_on(use, order, sources)) {
      const u32 buffer = finishes % BUFFERS;
      barrier_wait(filled + 8 * buffer, finishes / BUFFERS & 1);
      ++finishes;
      if (use.source + 1 < sources) {  // nothing is stored
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        grant_ahead(0);
        continue;
      }
      const u32 from = slabs + buffer * kSlabBytes;
      if (todo == kFillForOwner) {
        meet(peers, at.owner, met);
        store_bytes(slot + use.slab * kSlabBytes, from, kSlabBytes);
      } else {
        store_in_c(outputs, peers, at.owner, place.row + use.slab / kSlabs * 64,
                   place.column + use.slab % kSlabs * kSlab, from, met);
      }
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kReading) : "memory");
      grant_ahead(kReading);
    }
    if (peers_see(peers, at.owner)) {
      // Waits until the slabs are in memory, not only read.
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
      signal_stored(order, peers, at, met);
    } else {
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// The consumer's side. A slab that travels lies in the order of the consumer's registers: thread t
// has 16 bytes of every 16 columns.

__device__ __forceinline__ u32 fragment_offset(int pair, int thread) {
  return static_cast<u32>((pair * 128 + thread) * 16);
}

__device__ __forceinline__ void add_packed(float& low, float& high, u32 pair) {
#if HALF
  float first;
  float second;
  asm("{\n.reg .b16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}\n"
      : "=f"(first), "=f"(second)
      : "r"(pair));
  low += first;
  high += second;
#else
  low += __uint_as_float(pair << 16);
  high += __uint_as_float(pair & 0xffff0000u);
#endif
}

/// Adds what a peer has stored to the sums of a slab.
__device__ __forceinline__ void add_fragments(float* sums, u32 slab, int thread) {
#pragma unroll
  for (int pair = 0; pair < kSlab / 16; ++pair) {
    u32 part[4];
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
                 : "r"(slab + fragment_offset(pair, thread))
                 : "memory");
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      add_packed(sums[8 * pair + 2 * i], sums[8 * pair + 2 * i + 1], part[i]);
    }
  }
}

__device__ __forceinline__ void write_fragments(const float* sums, u32 slab, int thread) {
#pragma unroll
  for (int pair = 0; pair < kSlab / 16; ++pair) {
    const float* sum = sums + 8 * pair;
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(slab +
                                                                 fragment_offset(pair, thread)),
                 "r"(packed(sum[0], sum[1])), "r"(packed(sum[2], sum[3])),
                 "r"(packed(sum[4], sum[5])), "r"(packed(sum[6], sum[7]))
                 : "memory");
  }
}

/// Waits for the other threads of the consumer.
__device__ __forceinline__ void meet_consumer(int consumer) {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + consumer) : "memory");
}
