#pragma once
// The ring of items of the GEMM on Hopper: what its scheduling warp tells the other warps.
//
// A CTA's work reaches its warps through a ring of items in shared memory. The scheduling warp puts
// in what comes next; the others take it out. Consumers that take turns have every other item.

#include "kernels/device/hopper_tile.cuh"

namespace overlaptune::kernels::device {

constexpr int kItems = 4;  // of the ring: an even number

template <class K>
constexpr int kStride = K::kPingPong ? 2 : 1;
/// The last warp of the first warpgroup schedules, where it is not needed to store for a consumer;
/// else the loading warp does so between two items.
template <class K>
constexpr bool kSchedules = K::kConsumers < 3;
template <class K>
constexpr int kSchedulingWarp = kSchedules<K> ? 3 : 0;

enum What : short {
  kTile,
  kTwin,  // the tile of the other CTA of the cluster, once more; nothing is stored
  kPush,  // rows for a peer, which pass through the stages
  kEnd,
};
constexpr int kAllChunks = 0x7fffffff;
struct alignas(16) Item {
  short what;
  short shared;  // of a tile: `Shared`
  int block;     // its place
  int row;
  int column;
  int steps;  // of k that were loaded before it
  int index;  // of the tile in the order; of a push; where tiles are stored at ranks, the wave
              // group
  int owner;  // of a tile that is stored at a rank, and its slot there; of a tile that pushes: the
              // chunks of columns that are at the peers
  int slot;   // of a push: its steps; of a tile in a launch that waits: the last chunk of columns
              // that the scheduling warp has seen there, 0 until then
};

/// Where the ranks have C, if they are as few as shared memory is sure to have room for
/// (`static_bytes` in core/config/staging.cpp).
template <int kRanks>
struct Places {
  volatile u32 places[kRanks];
};
template <>
struct Places<0> {};
template <class Epilogue>
constexpr int kPlaces = Epilogue::kRanks <= 32 ? Epilogue::kRanks : 0;

template <class K>
struct alignas(16) Items : Places<kPlaces<typename K::Epilogue>> {
  Item items[kItems];
  u64 full[kItems];
  u64 empty[kItems];
  // For the second CTA of a cluster: what the first one has taken from the queue for both.
  u64 claimed[2];
  u64 read[2];
  int claims[2];
  u32 tasks[K::kConsumers];  // of a kernel that stores at ranks
  u64 asked;                 // the loading warp will soon be done with an item
  u64 passed_barrier;        // in a launch that waits, and has the barrier itself: it is over
  // For the thread that puts items in, which has no registers for them. All but the first:
  // homes.cuh.
  volatile int loaded;    // steps of all items
  volatile int position;  // of the item taken last
  volatile int there;     // clusters that had arrived when the homes were closed; -1: not known
  volatile int behind;    // position less ticket, when no homes are left; -1: not known
  volatile u32 arrived;   // clusters before this one, and whether the homes were closed
  volatile u32 left_out;  // 1: the world has ended before the items have
  volatile int ended;     // whether it is the last one that has nothing more to take
};

template <class K>
__device__ __forceinline__ void init(Items<K>& items) {
  items.ended = 0;
  items.left_out = 0;
  items.there = -1;
  items.behind = -1;
  items.loaded = 0;
  barrier_init(shared_address(&items.asked), 1);
  if constexpr (K::Feed::kWaits) barrier_init(shared_address(&items.passed_barrier), 1);
  for (int i = 0; i < kItems; ++i) {
    barrier_init(shared_address(items.full + i), 1);
    barrier_init(shared_address(items.empty + i), (K::Feed::kWaits ? 2 : 1) * K::kOfOneTile);
  }
  for (int i = 0; i < 2; ++i) {
    barrier_init(shared_address(items.claimed + i), 1);
    barrier_init(shared_address(items.read + i), 1);
    barrier_expect(shared_address(items.claimed + i), sizeof(int));
  }
}

/// Waits until item number `number` may be put in. By one thread, as `put`.
template <class K>
__device__ __forceinline__ void wait_for_slot(const Items<K>& items, u32 number) {
  barrier_wait(shared_address(items.empty + number % kItems), (number / kItems & 1) ^ 1);
}

template <class K>
__device__ __forceinline__ void put(Items<K>& items, u32 number, const Item& item) {
  const u32 slot = number % kItems;
  items.items[slot] = item;
  barrier_arrive(shared_address(items.full + slot));
}

/// Tells the loading thread that a chunk of the columns is there for an item in the ring.
__device__ __forceinline__ void tell_chunk(Item& item, int chunk) {
  publish_here(shared_address(&item.slot), static_cast<u32>(chunk));
}
/// Waits until it has been told so. This ends, because the waits of the thread that tells end.
__device__ __forceinline__ void wait_for_chunk(const volatile Item& item, int chunk) {
  const u32 there = shared_address(const_cast<const int*>(&item.slot));
  while (acquired_here(there) < static_cast<u32>(chunk)) {
  }
}

/// Tells the scheduling warp that so many chunks of the columns of a tile are at the peers.
__device__ __forceinline__ void tell_pushed(Item& item, int chunks) {
  publish_here(shared_address(&item.owner), static_cast<u32>(chunks));
}
/// The chunks that it was told of last. For the thread that tells, which has no register for them.
__device__ __forceinline__ int told_of(const volatile Item& item) {
  return item.owner;
}
/// Waits until it has been told so. This ends, because the loads, the stores and the waits for
/// ranks of the thread that tells end.
__device__ __forceinline__ void wait_for_pushed(Item& item, int chunks) {
  while (acquired_here(shared_address(&item.owner)) < static_cast<u32>(chunks)) {
  }
}

/// Waits for item number `number`. Every thread of a consumer may.
template <class K>
__device__ __forceinline__ void wait_for_item(const Items<K>& items, u32 number) {
  barrier_wait(shared_address(items.full + number % kItems), number / kItems & 1);
}
/// Waits for the item, and reads it.
template <class K>
__device__ __forceinline__ Item taken(const Items<K>& items, u32 number) {
  wait_for_item(items, number);
  return items.items[number % kItems];
}

/// Gives back the slot of an item, after all threads of a consumer have read it. By one thread for
/// each of its consumers; of a push both that of the storing warp and one of the consumer do, and
/// each for itself: `give_back_half`.
template <class K>
__device__ __forceinline__ void give_back_half(const Items<K>& items, u32 number) {
  barrier_arrive(shared_address(items.empty + number % kItems));
}
template <class K>
__device__ __forceinline__ void give_back(const Items<K>& items, u32 number) {
#pragma unroll
  for (int i = 0; i < (K::Feed::kWaits ? 2 : 1); ++i) give_back_half(items, number);
}

/// The number of an item among those of its consumer.
template <class K>
__device__ __forceinline__ u32 own_number(u32 number) {
  return number / kStride<K>;
}

/// Whether a tile pushes its rows.
template <class K, class Rows>
__device__ __forceinline__ bool tile_pushes(const Rows& rows, const Item& item) {
  if constexpr (K::Feed::kTilesPush) {
    return item.what == kTile && item.block == rows.own_block &&
           item.column < rows.pushers * K::kBlockN;
  }
  return false;
}
/// Whether the warp that stores C for a consumer pushes the rows of its tiles that push: of
/// consumers that share tiles, that of the first one.
template <class K>
__device__ __forceinline__ bool warp_pushes(int consumer) {
  return K::kPingPong || consumer == 0;
}

/// A part of a push passes through the ring as steps of so many bytes. Both CTAs of a cluster take
/// as many.
template <class K>
constexpr int kStepVectors = K::kStageBytes / 16;
template <class K>
__device__ __forceinline__ int steps_of(const Push& push) {
  return (push.most + kStepVectors<K> - 1) / kStepVectors<K>;
}
/// Steps of all parts.
template <class K, class Rows>
__device__ __forceinline__ int steps_of_push(const Rows& rows, int number) {
  int steps = 0;
  for (int part = 0; part < parts_of_push(rows); ++part) {
    steps += steps_of<K>(push_of<K::kWaitsForChunks>(rows, number, part));
  }
  return steps;
}
/// Bytes of a step, maybe none.
template <class K>
__device__ __forceinline__ u32 bytes_of_step(const Push& push, int step) {
  const int left = push.vectors - step * kStepVectors<K>;
  return left <= 0 ? 0 : 16 * (left < kStepVectors<K> ? left : kStepVectors<K>);
}

/// Calls `move(vector, at, bytes)` for each row of a step: its first vector, counted from that of
/// the part, its place in the step, and its length, both in bytes.
template <class K, class Move>
__device__ __forceinline__ void each_row(const Push& push, int row_vectors, int step,
                                         const Move& move) {
  const int left = static_cast<int>(bytes_of_step<K>(push, step)) / 16;
  if (!K::kWaitsForChunks || push.width == push.vectors) {
    if (left > 0) move(step * kStepVectors<K>, 0, static_cast<u32>(16 * left));
    return;
  }
  int row = step * kStepVectors<K> / push.width;
  int column = step * kStepVectors<K> - row * push.width;
#pragma unroll 1
  for (int at = 0; at < left; ++row) {
    const int rest = push.width - column;
    const int vectors = left - at < rest ? left - at : rest;
    move(row * row_vectors + column, 16 * at, static_cast<u32>(16 * vectors));
    at += vectors;
    column = 0;
  }
}

}  // namespace overlaptune::kernels::device
