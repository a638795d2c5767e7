// The part of the GEMM on Hopper that stores each tile at the rank that owns it (`peer_store`).
// hopper_gemm.cu has this text in front of it where RANKS is not 0.
//
// The slabs of a tile pass through the staging buffers of their consumer. A buffer is used again
// and again, each time in three steps: the storing warp *grants* it to the consumer, the consumer
// *fills* it, and the storing warp *finishes* it. What happens depends on the tile:
//
//   tile of another rank   one pass: granted empty; filled with a slab of the tile; finished by a
//   store
//                          into the owner's slot, in the order of the consumer's registers
//   own tile               one pass for each peer: granted with the slab that the peer has stored
//   here;
//                          the consumer adds it to its sums and gives the buffer back. One pass
//                          more: granted empty; filled with the sums; finished by a store into C
//   gemm_all_to_all        one pass: granted empty; finished by a store into the owner's C
//
// The storing warp turns to a tile when it has finished the one before it: mostly while the tile is
// still multiplied. So what peers have stored for an own tile is loaded beside the multiplication.
//
// Ranks cannot wait for each other in a circle: a tile waits for tiles of the peers that come
// earlier in the order of every rank (waits.cu).
//
// Macros:
//   RANKS   ranks that exchange tiles, at least 2
//   GROUPS  most wave groups of a launch
// Source: the idea of an epilogue that stores into the owner's memory is FLUX's (Chang et al. 2024,
// section 3).

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
  u32 done;       // the value of `done` when all tiles of the peers have arrived in C; 0: none come
  char* slots_of[RANKS];
  Group groups[GROUPS];
};

/// The position behind `position` of a cluster that goes on by equal steps.
__device__ __forceinline__ int step_from(const Run& run, const Peers&, int position) {
  return position + run.clusters;
}

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

/// `step`: that of a tile nearby, or -1; the search begins there, and it becomes that of the tile.
/// A step has the peers' tiles of the group with its number, and the own tiles that follow them.
/// With `own_later` there is one step more, which has only own tiles.
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
      if (rest < part.count)
        return {step, owner, part.begin + rest, peers.groups[step].slot + rest};
      rest -= part.count;
    }
  }
  const int group = step - peers.own_later;
  return {group, peers.rank, share(peers, group, peers.rank).begin + rest,
          peers.groups[group].slot + rest};
}

/// The place of a tile. In `order` there is one block.
template <class Order>
__device__ __forceinline__ Place place_in(const Order& order, const Peers& peers,
                                          const Stored& at) {
  Place place = place_of(order, at.tile);
  place.block = peers.owns_blocks ? at.owner : 0;
  return place;
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

// The storing warp.

constexpr long long kTileBytes = BLOCK_M * BLOCK_N * 2;

/// The consumer's first slab of a tile in the slots of `owner`, for the sums of peer number
/// `source`, not counting the owner.
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
__device__ __forceinline__ void signal_stored(const Run& run, const Order& order,
                                              const Peers& peers, const Item& item) {
  if (!peers_see(peers, item.owner)) return;
  wait_for_stores();
  if (task_of(peers, item.owner) == kFillForOwner) {
    increment(run.words[item.owner]->counters + item.index, order.signal);
  } else if (item.owner != peers.rank) {
    increment(&run.words[item.owner]->done, order.signal);
  } else if (!peers.owns_blocks) {
#pragma unroll 1
    for (int rank = 0; rank < RANKS; ++rank) {
      if (rank != peers.rank) increment(&run.words[rank]->done, order.signal);
    }
  }
}

/// The staging buffers of a consumer and their barriers, in shared memory. `task`: a word that
/// tells the consumer what to do with the tile whose first buffer is granted.
struct Buffers {
  u32 slabs;
  u32 filled;
  u32 free;
  u32 task;
};

/// Stores the consumer's part of a tile. By one thread. Returns the number of passes.
__device__ __forceinline__ u32 deliver_tile(const Outputs& outputs, const Run& run,
                                            const Order& order, const Peers& peers, int consumer,
                                            const Buffers& buffers, const Item& item, u32 pass) {
  const Task todo = task_of(peers, item.owner);
  const u32 loads = todo == kAddAndFill ? RANKS - 1 : 0;  // passes
  // Where slabs come from, or go to; and the place of the first one in C.
  char* slot = nullptr;
  Place first{};
  if (todo == kFillForOwner) {
    const int source = peers.rank - (peers.rank > item.owner ? 1 : 0);
    slot = in_slot(peers, item.owner, source, item.slot, consumer);
  } else {
    first = first_slab({0, item.row, item.column}, consumer);
  }
  if (todo == kAddAndFill) {
    slot = in_slot(peers, peers.rank, 0, item.slot, consumer);
    wait_for(run, own_words(run)->counters + item.index, peers.groups[item.index].arrivals,
             kCounter, item.index);
    fence_copies();  // TMA reads what the counter says is there
  }
  store_word(buffers.task, todo);
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
        store_in_c(outputs, peers, item.owner, place_of_slab(first, static_cast<int>(slab)), from);
      }
    }
    end_stores();
    // The next store begins while the last one may still read its buffer.
    reading = BUFFERS > 1 ? 1 : 0;
    wait_for_reads<(BUFFERS > 1 ? 1 : 0)>();
  }
  wait_for_reads<0>();
  return loads + 1;
}

/// The work of the warp that stores for one consumer, after all ranks have met; one thread of it
/// does all. In the CTA that took the end of the queue, it ends when all that peers store into C is
/// there.
__device__ __forceinline__ void deliver(const Outputs& outputs, const Run& run, const Order& order,
                                        const Peers& peers, int consumer, const Items& items, u32,
                                        u32, u32, u32 slabs, u32 filled, u32 free) {
  if (lane_of_warp() != 0) return;
  fence_copies();  // TMA writes where the ranks have read before
  const u32 task = shared_address(items.tasks + consumer);
  u32 pass = 0;
  u32 number = IN_TURN ? consumer : 0;
  Item item = taken(items, number);
  while (item.what != kEnd) {
    if (item.what == kTile) {
      pass += deliver_tile(outputs, run, order, peers, consumer, {slabs, filled, free, task}, item,
                           pass);
      give_back(items, number);
      signal_stored(run, order, peers, item);
    } else {
      give_back(items, number);
    }
    number += kStride;
    item = taken(items, number);
  }
  wait_for_stores();
  if (item.index != 0 && consumer == 0 && peers.done != 0) {
    wait_for(run, &own_words(run)->done, peers.done, kDone, 0);
  }
}

// The consumer's side. A slab that travels lies in the order of the consumer's registers: thread t
// has 16 bytes of every 16 columns.

__device__ __forceinline__ u32 fragment_offset(int pair, int thread) {
  return static_cast<u32>((pair * 128 + thread) * 16);
}

/// Adds what a peer has stored to the sums of a slab.
__device__ __forceinline__ void add_fragments(float* sums, u32 slab, int thread) {
#pragma unroll
  for (int pair = 0; pair < kSlab / 16; ++pair) {
    u32 part[4];
    read_words(slab + fragment_offset(pair, thread), part);
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
    store_words(slab + fragment_offset(pair, thread), packed(sum[0], sum[1]),
                packed(sum[2], sum[3]), packed(sum[4], sum[5]), packed(sum[6], sum[7]));
  }
}
