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
// The buffers of an own tile are granted as soon as the peers' slabs are there, while the tile is
// still multiplied. The storing thread never waits for peers while it has something to finish: a
// peer may need that. With this, ranks cannot wait for each other in a circle: whatever a tile waits
// for comes earlier in the order of every rank.
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

__device__ __forceinline__ Stored stored(const Peers& peers, int position) {
  const int times = peers.owns_blocks ? RANKS : 1;
  int group = 0;
  for (int count = peers.groups_count; count > 1;) {
    const int half = count / 2;
    const bool later = position >= peers.groups[group + half - 1].end * times;
    group += later ? half : 0;
    count = later ? count - half : half;
  }
  const int first = group > 0 ? peers.groups[group - 1].end : 0;
  const int count = peers.groups[group].end - first;
  int rest = position - first * times;
  int begin = first;
  int owner = 0;
  if (peers.owns_blocks) {
    owner = (peers.rank + 1 + rest / count) % RANKS;
    rest %= count;
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

/// The place of a tile. In `order` there is one block.
template <class Order>
__device__ __forceinline__ Place place_in(const Order& order, const Peers& peers, int position) {
  const Stored at = stored(peers, position);
  Place place = place_of(order, at.tile);
  place.block = peers.owns_blocks ? at.owner : 0;
  return place;
}
__device__ __forceinline__ void wait_for_rows(const Peers&, int, int&) {}

/// Whether the peers' sums are added to those of the tile.
__device__ __forceinline__ bool receives(const Peers& peers, int owner) {
  return peers.adds && owner == peers.rank;
}
/// Whether the tile goes to a slot of its owner.
__device__ __forceinline__ bool goes_to_slot(const Peers& peers, int owner) {
  return peers.adds && owner != peers.rank;
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

/// One use of a buffer. `slab`: among those of the consumer. `source`: the peer whose sums are
/// added, not counting this rank; the last one, where none are.
struct Use {
  int tile;
  int slab;
  int source;
};
constexpr int kLastSource = RANKS - 2;
constexpr int kSlabsOfConsumer = kParts * kSlabs;

/// The consumer's first tile, and the one after `tile`.
__device__ __forceinline__ int first_tile_of(const Order& order, int consumer) {
  const int tile = own_tile(order);
  return is_mine(0, consumer) ? tile : next_tile(order, tile);
}
__device__ __forceinline__ int next_tile_of(const Order& order, int tile) {
  tile = next_tile(order, tile);
  return IN_TURN ? next_tile(order, tile) : tile;
}

__device__ __forceinline__ int next_stored(const Order& order, int slab) {
  do {
    ++slab;
  } while (slab < kSlabsOfConsumer && !stores(order, slab % kSlabs));
  return slab;
}

__device__ __forceinline__ int first_source(const Order& order, const Peers& peers, int tile) {
  return tile < order.tiles && receives(peers, stored(peers, tile).owner) ? 0 : kLastSource;
}

__device__ __forceinline__ Use first_use(const Order& order, const Peers& peers, int consumer) {
  const int tile = first_tile_of(order, consumer);
  return {tile, next_stored(order, -1), first_source(order, peers, tile)};
}

__device__ __forceinline__ void go_on(Use& use, const Order& order, const Peers& peers) {
  if (use.source < kLastSource) {
    ++use.source;
    return;
  }
  use.slab = next_stored(order, use.slab);
  if (use.slab == kSlabsOfConsumer) {
    use.tile = next_tile_of(order, use.tile);
    use.slab = next_stored(order, -1);
  }
  use.source = first_source(order, peers, use.tile);
}

/// A slab in the slots of `owner`, which receives it from peer number `source`, not counting itself.
__device__ __forceinline__ char* slab_in_slot(const Peers& peers, int owner, int source, int slot,
                                              int consumer, int slab) {
  constexpr long long kTileBytes = BLOCK_M * BLOCK_N * 2;
  return peers.slots_of[owner] +
         (static_cast<long long>(source) * peers.slots + slot) * kTileBytes +
         (row_of(consumer) / 64 * kSlabs + slab) * kSlabBytes;
}

/// Grants the buffer with the slab that a peer has stored, if it is there.
__device__ __forceinline__ bool grant_received(const Peers& peers, const Stored& at, const Use& use,
                                               int consumer, u32 buffer, u32 free) {
  const u32* counter = &peers.words[peers.rank]->counters[at.group];
  if (!has_reached(counter, peers.groups[at.group].arrivals)) return false;
  asm volatile("fence.proxy.async;" ::: "memory");  // TMA reads what the counter says is there
  barrier_expect(free, kSlabBytes);
  load_bytes(buffer,
             slab_in_slot(peers, peers.rank, use.source, at.slot, consumer, use.slab), free,
             kSlabBytes);
  return true;
}

/// Waits, before the first store to a rank, until that rank may be stored to.
__device__ __forceinline__ void meet(const Peers& peers, int rank, Ranks& met) {
  if (rank == peers.rank || (met >> rank & 1) != 0) return;
  const StoreWords* own = peers.words[peers.rank];
  wait_until(&own->ready[rank], own->runs[rank] + 1);
  met |= Ranks{1} << rank;
}

/// Starts the store of a slab, from its buffer to where it goes.
__device__ __forceinline__ void store_slab(const Outputs& outputs, const Order& order,
                                           const Peers& peers, const Stored& at, int slab,
                                           int consumer, u32 buffer, Ranks& met) {
  if (goes_to_slot(peers, at.owner)) {
    meet(peers, at.owner, met);
    const int source = peers.rank - (peers.rank > at.owner ? 1 : 0);
    store_bytes(slab_in_slot(peers, at.owner, source, at.slot, consumer, slab), buffer, kSlabBytes);
    return;
  }
  const Place place = place_of(order, at.tile);
  const int row = place.row + row_of(consumer) + slab / kSlabs * 64;
  const int column = place.column + slab % kSlabs * kSlab;
  const int first = peers.owns_blocks ? at.owner : 0;
  const int count = peers.owns_blocks ? 1 : RANKS;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    const int rank = peers.owns_blocks ? first : (peers.rank + i) % RANKS;
    meet(peers, rank, met);
    store(&outputs.c[rank], buffer, column, row, 0);
  }
}

/// Tells the ranks to which the consumer has stored its part of a tile.
__device__ __forceinline__ void signal_stored(const Order& order, const Peers& peers,
                                              const Stored& at) {
  if (goes_to_slot(peers, at.owner)) {
    increment(&peers.words[at.owner]->counters[at.group], order.signal);
  } else if (at.owner != peers.rank) {
    increment(&peers.words[at.owner]->done, order.signal);
  } else if (!peers.owns_blocks) {
#pragma unroll 1
    for (int turn = 1; turn < RANKS; ++turn) {
      increment(&peers.words[(peers.rank + turn) % RANKS]->done, order.signal);
    }
  }
}

/// The work of the thread that stores for one consumer.
__device__ __forceinline__ void deliver_to_owners(const Outputs& outputs, const Order& order,
                                                  const Peers& peers, int consumer, u32 slabs,
                                                  u32 filled, u32 free) {
  const StoreWords* own = peers.words[peers.rank];
  wait_until(&own->open, own->runs[peers.rank] + 1);
  Ranks met = 0;
  Use granted = first_use(order, peers, consumer);
  Use finished = granted;
  // Numbers of uses. Each uses the next buffer.
  u32 grants = 0;
  u32 finishes = 0;
  u32 since = 0;
  while (finished.tile < order.tiles) {
    bool waits_for_peers = false;
    if (grants - finishes < BUFFERS && granted.tile < order.tiles) {
      const u32 buffer = grants % BUFFERS;
      const Stored at = stored(peers, granted.tile);
      if (!receives(peers, at.owner)) {
        barrier_arrive(free + 8 * buffer);
      } else {
        waits_for_peers = !grant_received(peers, at, granted, consumer,
                                          slabs + buffer * kSlabBytes, free + 8 * buffer);
      }
      if (!waits_for_peers) {
        go_on(granted, order, peers);
        ++grants;
        since = 0;
        continue;
      }
      check_patience(since);
      if (grants == finishes) continue;
    }
    const u32 buffer = finishes % BUFFERS;
    const u32 phase = finishes / BUFFERS & 1;
    if (waits_for_peers) {
      if (!barrier_is_over(filled + 8 * buffer, phase)) continue;
    } else {
      barrier_wait(filled + 8 * buffer, phase);
    }
    ++finishes;
    if (finished.source == kLastSource) {
      const Stored at = stored(peers, finished.tile);
      store_slab(outputs, order, peers, at, finished.slab, consumer, slabs + buffer * kSlabBytes,
                 met);
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      if (next_stored(order, finished.slab) == kSlabsOfConsumer && peers_see(peers, at.owner)) {
        // Waits until the slabs are in memory, not only read.
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        signal_stored(order, peers, at);
      } else {
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      }
    }
    go_on(finished, order, peers);
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
