#pragma once
// Epilogue: each tile goes to the rank that owns it (`peer_store`).
//
// The subtiles of a tile pass through the staging buffers of their consumer. A buffer is used again
// and again, each time in three steps: the storing warp *grants* it to the consumer, the consumer
// *fills* it, and the storing warp *finishes* it. What happens depends on the tile:
//
//   tile of another rank   one pass: granted empty; filled with a subtile of the tile; finished by
//                          a store into the owner's slot, in the order of the consumer's registers
//   own tile               one pass for each peer: granted with the subtile that the peer has
//                          stored here; the consumer adds it to its sums and gives the buffer
//                          back. Then one more: granted empty; filled with the sums; finished by a
//                          store in C, and in gemm_all_reduce by one in the C of each peer
//   gemm_all_to_all        one pass: granted empty; finished by a store into the owner's C
//
// The storing warp turns to a tile when it has finished the one before it: mostly while the tile is
// still multiplied. So what peers have stored for an own tile is loaded beside the multiplication.
//
// Ranks cannot wait for each other in a circle: a tile waits for tiles of the peers that come
// earlier in the order of every rank (waits.cuh), and whoever has a permit to send waits for no
// rank (permits.cuh).
//
// Source: the idea of an epilogue that stores into the owner's memory is FLUX's (Chang et al. 2024,
// section 3).

#include "kernels/device/hopper_copies.cuh"
#include "strategies/peer_store/permits.cuh"

namespace overlaptune::kernels::device {

/// The work of a consumer on the subtiles of a tile.
enum Task : u32 {
  kFill,          // as without peers
  kFillForOwner,  // the subtile goes to a slot of the owner
  kAddAndFill,    // what the peers have stored comes first
};
template <class Params>
__device__ __forceinline__ Task task_of(const Params& peers, int owner) {
  return !peers.adds ? kFill : owner == peers.rank ? kAddAndFill : kFillForOwner;
}
/// Whether all ranks need the sums of each.
template <class Params>
__device__ __forceinline__ bool stores_for_all(const Params& peers) {
  return !peers.owns_blocks;
}

// The storing warp.

template <class K>
constexpr long long kTileBytes = K::kBlockM* K::kBlockN * 2;

/// The consumer's first subtile of a tile in the slots of `owner`, for the sums of peer number
/// `source`, not counting the owner.
template <class K>
__device__ __forceinline__ char* in_slot(const typename K::Epilogue::Params& peers, int owner,
                                         int source, int slot, int consumer) {
  return peers.slots_of[owner] +
         (static_cast<long long>(source) * peers.slots + slot) * kTileBytes<K> +
         first_of<K>(consumer) / 64 * K::kSubtiles * K::kSubtileBytes;
}

/// Where a rank has C.
template <class K>
__device__ __forceinline__ u32 place_for(const Launch<K>& launch, const Items<K>& items, int rank) {
  if constexpr (kPlaces < typename K::Epilogue >> 0) {
    return items.places[rank];
  } else {
    return place_at(launch.run, rank);
  }
}

/// Starts the store of a subtile of C at its owner; that of sums which all ranks need at all of
/// them, the owner last: its own memory is near. Ranks have C at different places of their memory.
template <class K>
__device__ __forceinline__ void store_in_c(const Launch<K>& launch, const Items<K>& items,
                                           int owner, const Place& subtile, u32 buffer) {
  int rank = owner;
#pragma unroll 1
  do {
    if (stores_for_all(launch.epilogue)) rank = rank + 1 < K::Epilogue::kRanks ? rank + 1 : 0;
    const u32 place = place_for(launch, items, rank);
    store(&launch.epilogue.c[kParts * rank + part_of(place)], buffer, subtile.column, subtile.row,
          units_of(place));
  } while (rank != owner);
}

/// Tells the ranks to which the consumer has stored its part of a tile, once it is in memory.
template <class K>
__device__ __forceinline__ void signal_stored(const Launch<K>& launch, const Item& item) {
  const auto& peers = launch.epilogue;
  const Run& run = launch.run;
  const u32 signal = launch.order.signal;
  if (!stores_for_all(peers) && item.owner == peers.rank) return;
  wait_for_stores<0>();
  if (task_of(peers, item.owner) == kFillForOwner) {
    increment(run.flags[item.owner]->counters + item.index, signal);
  } else if (stores_for_all(peers)) {
#pragma unroll 1
    for (int rank = 0; rank < K::Epilogue::kRanks; ++rank) {
      if (rank != peers.rank) increment(&run.flags[rank]->done, signal);
    }
  } else {
    increment(&run.flags[item.owner]->done, signal);
  }
}

/// Stores the consumer's part of a tile. By one thread. `task`: a word in shared memory that tells
/// the consumer what to do with the tile whose first buffer is granted. Returns the number of
/// passes.
template <class K>
__device__ __forceinline__ u32 deliver_tile(const Launch<K>& launch, const Items<K>& items,
                                            int consumer, const Buffers& buffers, u32 task,
                                            const Item& item, u32 pass) {
  const auto& peers = launch.epilogue;
  const Run& run = launch.run;
  const Order& order = launch.order;
  const Task todo = task_of(peers, item.owner);
  const u32 loads = todo == kAddAndFill ? K::Epilogue::kRanks - 1 : 0;  // passes
  // Where subtiles come from, or go to; and the place of the first one in C.
  char* slot = nullptr;
  Place first{};
  if (todo == kFillForOwner) {
    const int source = peers.rank - (peers.rank > item.owner ? 1 : 0);
    slot = in_slot<K>(peers, item.owner, source, item.slot, consumer);
  } else {
    first = first_subtile<K>({0, item.row, item.column}, consumer);
  }
  if (todo == kAddAndFill) {
    slot = in_slot<K>(peers, peers.rank, 0, item.slot, consumer);
    wait_for(run, own_flags(run)->counters + item.index, peers.groups[item.index].arrivals,
             Awaited::counter, item.index);
    fence_copies();  // TMA reads what the counter says is there
  }
  store_word(task, todo);
  // Uses of buffers, one for each subtile of each pass: granted, and finished.
  const u32 uses = (loads + 1) * K::kSubtilesOfConsumer;
  u32 granted = 0;
  u32 finished = 0;
  const auto grant = [&](u32 use) {
    const u32 load = use / K::kSubtilesOfConsumer;
    const u32 subtile = use % K::kSubtilesOfConsumer;
    const u32 buffer = buffer_of<K>(pass + load, subtile);
    const u32 barrier = buffers.free + 8 * buffer;
    if (load < loads && stores<K>(order, subtile)) {
      barrier_expect(barrier, K::kSubtileBytes);
      load_bytes(buffers.subtiles + buffer * K::kSubtileBytes,
                 slot + load * peers.slots * kTileBytes<K> + subtile * K::kSubtileBytes, barrier,
                 K::kSubtileBytes);
    } else {
      barrier_arrive(barrier);
    }
  };
  const bool sends = item.owner != peers.rank || stores_for_all(peers);
  u32 reading = 0;  // buffers that stores may still read
#pragma unroll 1
  while (true) {
#pragma unroll 1
    while (granted < uses && granted - finished + reading < K::kBuffers) grant(granted++);
    if (finished == uses) break;
    const u32 load = finished / K::kSubtilesOfConsumer;
    const u32 subtile = finished % K::kSubtilesOfConsumer;
    const u32 buffer = buffer_of<K>(pass + load, subtile);
    barrier_wait(buffers.filled + 8 * buffer, uses_before<K>(pass + load, subtile) & 1);
    ++finished;
    if (load < loads) continue;  // nothing is stored
    if (sends && subtile == 0) take_permit(run, static_cast<u32>(peers.permits));
    const u32 from = buffers.subtiles + buffer * K::kSubtileBytes;
    if (stores<K>(order, subtile)) {
      if (todo == kFillForOwner) {
        store_bytes(slot + subtile * K::kSubtileBytes, from, K::kSubtileBytes);
      } else {
        store_in_c<K>(launch, items, item.owner,
                      place_of_subtile<K>(first, static_cast<int>(subtile)), from);
      }
    }
    end_stores();
    // The next store begins while the last one may still read its buffer.
    reading = K::kBuffers > 1 ? 1 : 0;
    wait_for_reads<(K::kBuffers > 1 ? 1 : 0)>();
  }
  wait_for_reads<0>();
  if (sends) return_permit(run);
  return loads + 1;
}

/// For launches of `kOfRanks` ranks, at least 2, and at most `kGroups` wave groups.
template <int kOfRanks, int kGroups>
struct AtRanks {
  using Params = AtRanksParams<kOfRanks, kGroups>;
  static constexpr bool kAtRanks = true;
  static constexpr int kRanks = kOfRanks;

  /// The place of a tile. In `order` there is one block.
  template <class K>
  static __device__ __forceinline__ Place place(const Order& order, const Params& peers,
                                                const Stored& at) {
    Place place = place_of<K::kBlockM, K::kBlockN>(order, at.tile);
    place.block = peers.owns_blocks ? at.owner : 0;
    return place;
  }

  /// The work of the warp that stores for one consumer, after all ranks have met; one thread of it
  /// does all. In the CTA that took the end of the queue, it ends when all that peers store into C
  /// is there.
  template <class K>
  static __device__ __forceinline__ void deliver(const Launch<K>& launch, int consumer,
                                                 Items<K>& items, const Stages& /*stages*/,
                                                 const Buffers& buffers) {
    if constexpr (kPlaces < AtRanks >> 0) {
      // Each of these warps writes the same.
      for (int rank = lane_of_warp(); rank < kRanks; rank += kLanes) {
        items.places[rank] = place_at(launch.run, rank);
      }
      __syncwarp();
    }
    if (lane_of_warp() != 0) return;
    fence_copies();  // TMA writes where the ranks have read before
    u32 pass = 0;
#pragma unroll 1
    for (u32 number = K::kPingPong ? consumer : 0;; number += kStride<K>) {
      // Addresses that come from it are no values that live as long as the loop: registers are few.
      int own = consumer;
      hide(own);
      const Item item = taken(items, number);
      if (item.what == kEnd) break;
      if (item.what == kTile) {
        const u32 task = shared_address(items.tasks + own);
        pass += deliver_tile(launch, items, own, buffers, task, item, pass);
      }
      give_back(items, number);
      if (item.what == kTile) signal_stored(launch, item);
    }
    wait_for_stores<0>();
    const u32 done = launch.epilogue.done;
    if (items.ended != 0 && consumer == 0 && done != 0) {
      wait_for(launch.run, &own_flags(launch.run)->done, done, Awaited::done, 0);
    }
  }
};

// The consumer's side. A subtile that travels lies in the order of the consumer's registers: thread
// t has 16 bytes of every 16 columns.

__device__ __forceinline__ u32 fragment_offset(int pair, int thread) {
  return static_cast<u32>((pair * 128 + thread) * 16);
}

/// Adds what a peer has stored to the sums of a subtile.
template <class K>
__device__ __forceinline__ void add_fragments(float* sums, u32 subtile, int thread) {
#pragma unroll
  for (int pair = 0; pair < K::kSubtile / 16; ++pair) {
    u32 part[4];
    read_words(subtile + fragment_offset(pair, thread), part);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      add_packed<K::kResult>(sums[8 * pair + 2 * i], sums[8 * pair + 2 * i + 1], part[i]);
    }
  }
}

template <class K>
__device__ __forceinline__ void write_fragments(const float* sums, u32 subtile, int thread) {
#pragma unroll
  for (int pair = 0; pair < K::kSubtile / 16; ++pair) {
    const float* sum = sums + 8 * pair;
    store_words(subtile + fragment_offset(pair, thread), packed<K::kResult>(sum[0], sum[1]),
                packed<K::kResult>(sum[2], sum[3]), packed<K::kResult>(sum[4], sum[5]),
                packed<K::kResult>(sum[6], sum[7]));
  }
}

}  // namespace overlaptune::kernels::device
