// The part of the GEMM on Hopper that stores each tile at the rank that owns it (`peer_store`).
// hopper_gemm.cu has this text in front of it where RANKS is not 0.
//
// The slabs of a tile pass through the staging buffers of their consumer. A buffer is used again and
// again, each time in three steps: the storing warp *grants* it to the consumer, the consumer *fills*
// it, and the storing warp *finishes* it. What happens depends on the tile:
//
//   tile of another rank   one pass: granted empty; filled with a slab of the tile; finished by a store
//                          into the owner's slot, in the order of the consumer's registers
//   own tile               one pass for each peer: granted with the slab that the peer has stored here;
//                          the consumer adds it to its sums and gives the buffer back. One pass more:
//                          granted empty; filled with the sums; finished by a store into C
//   gemm_all_to_all        one pass: granted empty; finished by a store into the owner's C
//
// The storing warp turns to a tile when it has finished the one before it: mostly while the tile is
// still multiplied. So what peers have stored for an own tile is loaded beside the multiplication.
//
// Ranks cannot wait for each other in a circle: a tile waits for tiles of the peers that come earlier
// in the order of every rank, and the storing warp has then finished all its earlier tiles.
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
  u32 ticket;         // warps that know the run
  u32 open;           // the run that `counters` and `done` are for
  u32 unused;
  u32 runs[64];   // runs with each rank, before this one
  u32 ready[64];  // the run for which each rank may be stored to, by that rank
};

/// A wave group of `StoreOrder` (core/store_order.hpp).
struct Group {
  int end;       // tiles of a row block (gemm_all_reduce: of C) up to the end of the group
  int computed;  // tiles that this rank has computed before those of the next group
  int slot;      // slot of an owner's first tile
  u32 arrivals;  // the group's counter when all that this rank owns has arrived
};

struct Peers {
  int rank;
  int owns_blocks;  // rank r owns row block r; else a part of each group, and its sums go to all
  int adds;         // the sum of all ranks is the result; else each tile is
  int slots;        // of a rank, for each peer
  int groups_count;
  int own_later;  // 1: own tiles come after the peers' tiles of the next group; 0: of the same one
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

/// The tiles of a group that a rank owns: `TileRange` of core/store_order.hpp.
struct Share {
  int begin;
  int count;
};
__device__ __forceinline__ Share share(const Peers& peers, int group, int owner) {
  const int first = group > 0 ? peers.groups[group - 1].end : 0;
  const int count = peers.groups[group].end - first;
  if (peers.owns_blocks) return {first, count};
  const auto begin_of = [&](long long rank) { return static_cast<int>(count * rank / RANKS); };
  return {first + begin_of(owner), begin_of(owner + 1) - begin_of(owner)};
}

/// `step`: that of a tile nearby, or -1; the search begins there, and it becomes that of the tile. A
/// step has the peers' tiles of the group with its number, and the own tiles that follow them. With
/// `own_later` there is one step more, which has only own tiles.
__device__ __forceinline__ Stored stored(const Peers& peers, int position, int& step) {
  const int last = peers.groups_count - 1 + peers.own_later;
  step = step < 0 ? 0 : step;
  while (step < last && position >= peers.groups[step].computed) ++step;
  while (step > 0 && position < peers.groups[step - 1].computed) --step;
  int rest = position - (step > 0 ? peers.groups[step - 1].computed : 0);
  if (step < peers.groups_count) {
#pragma unroll 1  // unrolled, it takes too many registers
    for (int turn = 1; turn < RANKS; ++turn) {
      const int owner = (peers.rank + turn) % RANKS;
      const Share part = share(peers, step, owner);
      if (rest < part.count) return {step, owner, part.begin + rest, peers.groups[step].slot + rest};
      rest -= part.count;
    }
  }
  const int group = step - peers.own_later;
  return {group, peers.rank, share(peers, group, peers.rank).begin + rest,
          peers.groups[group].slot + rest};
}

/// The place of a tile. In `order` there is one block. `step`: as of `stored`.
template <class Order>
__device__ __forceinline__ Place place_in(const Order& order, const Peers& peers, int position,
                                          int& step) {
  const Stored at = stored(peers, position, step);
  Place place = place_of(order, at.tile);
  place.block = peers.owns_blocks ? at.owner : 0;
  return place;
}
/// All rows are there.
__device__ __forceinline__ void wait_for_rows(const Peers&, int, int&) {}

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

/// It looks at the clock now and then only: that takes about as long as a look at the word.
__device__ __forceinline__ void wait_until(const u32* word, u32 value) {
  u32 since = 0;
  for (u32 looks = 1; !has_reached(word, value); ++looks) {
    if (looks % 16 == 0) check_patience(since);
  }
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
  __syncwarp();  // what a lane publishes comes after the other lanes' zeros
  for (int rank = lane; rank < RANKS; rank += 32) {
    const u32 run = own->runs[rank] + 1;
    publish(rank == peers.rank ? &own->open : &peers.words[rank]->ready[peers.rank], run);
  }
}

/// Waits until all ranks may be stored to. Called by each storing warp once. The last one to know
/// which run this is counts it, for the next launch. Lane 1 does so; lane 0, which stores, goes on.
__device__ __forceinline__ void meet(const Peers& peers) {
  StoreWords* own = peers.words[peers.rank];
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 1
  for (int rank = lane; rank < RANKS; rank += 32) {
    wait_until(rank == peers.rank ? &own->open : &own->ready[rank], own->runs[rank] + 1);
  }
  __syncwarp();
  if (lane == 0) {
    asm volatile("fence.proxy.async;" ::: "memory");  // TMA writes where the ranks have read before
  }
  if (lane != 1) return;
  __threadfence();  // `runs` is read before the ticket is taken
  if (atomicAdd(&own->ticket, 1) + 1 < gridDim.x * CONSUMERS) return;
#pragma unroll 1
  for (int rank = 0; rank < RANKS; ++rank) own->runs[rank] += 1;
  own->ticket = 0;
}

// The storing warp.

/// The consumer's first tile, and the one after `tile`.
__device__ __forceinline__ int first_tile_of(const Order& order, int consumer) {
  const int tile = own_tile(order);
  return is_mine(0, consumer) ? tile : next_tile(order, tile);
}
__device__ __forceinline__ int next_tile_of(const Order& order, int tile) {
  tile = next_tile(order, tile);
  return IN_TURN ? next_tile(order, tile) : tile;
}

constexpr long long kTileBytes = BLOCK_M * BLOCK_N * 2;

/// The consumer's first slab of a tile in the slots of `owner`, for the sums of peer number `source`,
/// not counting the owner.
__device__ __forceinline__ char* in_slot(const Peers& peers, int owner, int source, int slot,
                                         int consumer) {
  return peers.slots_of[owner] +
         (static_cast<long long>(source) * peers.slots + slot) * kTileBytes +
         first_of(consumer) / 64 * kSlabs * kSlabBytes;
}

/// Starts the store of a slab of C at its owner; sums of gemm_all_reduce at all ranks, the owner
/// last: its own memory is near.
__device__ __forceinline__ void store_in_c(const Outputs& outputs, const Peers& peers, int owner,
                                           const Place& slab, u32 buffer) {
  int rank = owner;
#pragma unroll 1
  do {
    if (!peers.owns_blocks) rank = rank + 1 < RANKS ? rank + 1 : 0;
    store(&outputs.c[rank], buffer, slab.column, slab.row, 0);
  } while (rank != owner);
}

/// Tells the ranks to which the consumer has stored its part of a tile, once it is in memory.
__device__ __forceinline__ void signal_stored(const Order& order, const Peers& peers,
                                              const Stored& at) {
  if (!peers_see(peers, at.owner)) return;
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  if (task_of(peers, at.owner) == kFillForOwner) {
    increment(&peers.words[at.owner]->counters[at.group], order.signal);
  } else if (at.owner != peers.rank) {
    increment(&peers.words[at.owner]->done, order.signal);
  } else if (!peers.owns_blocks) {
#pragma unroll 1
    for (int rank = 0; rank < RANKS; ++rank) {
      if (rank != peers.rank) increment(&peers.words[rank]->done, order.signal);
    }
  }
}

/// The staging buffers of a consumer and their barriers, in shared memory. `task`: a word that tells
/// the consumer what to do with the tile whose first buffer is granted.
struct Buffers {
  u32 slabs;
  u32 filled;
  u32 free;
  u32 task;
};

/// Stores the consumer's part of a tile. By one thread. Returns the number of passes.
__device__ __forceinline__ u32 deliver_tile(const Outputs& outputs, const Order& order,
                                            const Peers& peers, int consumer,
                                            const Buffers& buffers, const Stored& at, u32 pass) {
  const Task todo = task_of(peers, at.owner);
  const u32 loads = todo == kAddAndFill ? RANKS - 1 : 0;  // passes
  // Where slabs come from, or go to; and the place of the first one in C.
  char* slot = nullptr;
  Place first{};
  if (todo == kFillForOwner) {
    slot = in_slot(peers, at.owner, peers.rank - (peers.rank > at.owner ? 1 : 0), at.slot, consumer);
  } else {
    first = first_slab(place_of(order, at.tile), consumer);
  }
  if (todo == kAddAndFill) {
    slot = in_slot(peers, peers.rank, 0, at.slot, consumer);
    wait_until(&peers.words[peers.rank]->counters[at.group], peers.groups[at.group].arrivals);
    asm volatile("fence.proxy.async;" ::: "memory");  // TMA reads what the counter says is there
  }
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(buffers.task), "r"(static_cast<u32>(todo)) : "memory");
  // Uses of buffers, one for each slab of each pass: granted, and finished.
  const u32 uses = (loads + 1) * kSlabsOfConsumer;
  u32 granted = 0;
  u32 finished = 0;
  const auto grant = [&](u32 use) {
    const u32 load = use / kSlabsOfConsumer;
    const u32 slab = use % kSlabsOfConsumer;
    const u32 buffer = buffer_of(pass + load, slab);
    const u32 barrier = buffers.free + 8 * buffer;
    if (load < loads && stores(order, slab)) {
      barrier_expect(barrier, kSlabBytes);
      load_bytes(buffers.slabs + buffer * kSlabBytes,
                 slot + load * peers.slots * kTileBytes + slab * kSlabBytes, barrier, kSlabBytes);
    } else {
      barrier_arrive(barrier);
    }
  };
  u32 reading = 0;  // buffers that stores may still read
#pragma unroll 1
  while (true) {
#pragma unroll 1
    while (granted < uses && granted - finished + reading < BUFFERS) grant(granted++);
    if (finished == uses) break;
    const u32 load = finished / kSlabsOfConsumer;
    const u32 slab = finished % kSlabsOfConsumer;
    const u32 buffer = buffer_of(pass + load, slab);
    barrier_wait(buffers.filled + 8 * buffer, uses_before(pass + load, slab) & 1);
    ++finished;
    if (load < loads) continue;  // nothing is stored
    const u32 from = buffers.slabs + buffer * kSlabBytes;
    if (stores(order, slab)) {
      if (todo == kFillForOwner) {
        store_bytes(slot + slab * kSlabBytes, from, kSlabBytes);
      } else {
        store_in_c(outputs, peers, at.owner, place_of_slab(first, static_cast<int>(slab)), from);
      }
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    // The next store begins while the last one may still read its buffer.
    reading = BUFFERS > 1 ? 1 : 0;
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(BUFFERS > 1 ? 1 : 0) : "memory");
  }
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  return loads + 1;
}

/// The work of the warp that stores for one consumer; after all ranks have met, one thread of it does
/// all. The first CTA's ends when all that peers store into C is there.
__device__ __forceinline__ void deliver(const Outputs& outputs, const Order& order,
                                        const Peers& peers, int consumer, u32 slabs, u32 filled,
                                        u32 free, u32 task) {
  meet(peers);
  if (threadIdx.x % 32 != 0) return;
  int step = -1;
  u32 pass = 0;
  for (int tile = first_tile_of(order, consumer); tile < order.tiles;
       tile = next_tile_of(order, tile)) {
    const Stored at = stored(peers, tile, step);
    pass += deliver_tile(outputs, order, peers, consumer, {slabs, filled, free, task}, at, pass);
    signal_stored(order, peers, at);
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  if (blockIdx.x == 0 && consumer == 0 && peers.done != 0) {
    wait_until(&peers.words[peers.rank]->done, peers.done);
  }
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
