#pragma once
// The schedule of a CTA of the GEMM on Hopper: the scheduling warp takes positions of the queue,
// or counts through the CTA's own tiles where the launch never waits, looks their places up, and
// puts items into the ring. Where columns come in chunks, it waits for them, and where tiles push
// them, it counts them at the peers.

#include "kernels/device/homes.cuh"
#include "kernels/device/hopper_items.cuh"
#include "strategies/peer_store/stored_tiles.cuh"

namespace overlaptune::kernels::device {

/// An operand that both CTAs of a cluster need. Each CTA loads half of B for both. A they load in
/// turn, a step each: halves of A, too, made all loads slower.
enum Shared : short { kNone, kA, kB };

template <class K>
__device__ __forceinline__ Shared shared_by(const Place& place, const Place& other) {
  if (K::kCluster == 1) return kNone;
  if (other.column == place.column) return kB;
  return other.row == place.row && other.block == place.block ? kA : kNone;
}

/// The item of a tile. `place`: that of the tile that is computed.
__device__ __forceinline__ Item item_of(const Order& order, int tile, const Place& place,
                                        Shared shared) {
  return {.what = tile < order.tiles ? kTile : kTwin,
          .shared = shared,
          .block = place.block,
          .row = place.row,
          .column = place.column,
          .index = tile};
}

/// One of the next tiles, as a lane keeps it.
struct Ahead {
  Place place;
  int shared;
};

/// State of the scheduling warp.
struct Schedule {
  int near = -1;  // a step of the queue near the lane's tile, where tiles are stored at ranks
  int tile = -1;  // the CTA's next tile, in a launch that never waits
  Ahead ahead{};  // the lane's, likewise
};

// From the queue. The first CTA of a cluster takes positions for both.

template <class K>
__device__ __forceinline__ bool takes_for_other(const Order& order) {
  return K::kCluster == 2 || splits_k<K>(order);
}

/// Whether this CTA takes items: for itself, or for both CTAs.
template <class K>
__device__ __forceinline__ bool takes_items(const Order& order) {
  return !takes_for_other<K>(order) || cluster_rank() == 0;
}

/// The cluster's number.
template <class K>
__device__ __forceinline__ int own_cluster(const Order& order) {
  return static_cast<int>(blockIdx.x) / (takes_for_other<K>(order) ? 2 : 1);
}

/// The position of item number `number`. By all lanes.
template <class K>
__device__ __forceinline__ int position_of_item(const Launch<K>& launch, Items<K>& items,
                                                u32 number) {
  const Run& run = launch.run;
  const Order& order = launch.order;
  // CTAs that share a tile add it up in the memory of their ring: they have no other item.
  const bool one_each = splits_k<K>(order);
  const auto step = [&](int from) {
    if constexpr (K::Feed::kWaits) {
      return step_from(run, launch.feed, from);
    } else {
      return from + run.clusters;
    }
  };
  int position = run.items;
  if (lane_of_warp() == 0) {
    const u32 slot = number % 2;
    const u32 phase = number / 2 & 1;
    if (takes_items<K>(order)) {
      if (number == 0) {
        position = first_position(run, own_cluster<K>(order), items, step);
      } else if (!one_each) {
        position = next_position(run, items, step);
      }
      items.position = position;
      if (one_each ? number == 0 : position >= run.items) items.ended = leave(run, items);
      if (takes_for_other<K>(order)) {
        barrier_wait(shared_address(items.read + slot), phase ^ 1);
        send_to_other(shared_address(items.claims + slot), static_cast<u32>(position),
                      shared_address(items.claimed + slot));
      }
    } else {
      const u32 claimed = shared_address(items.claimed + slot);
      barrier_wait(claimed, phase);
      position = *const_cast<volatile int*>(items.claims + slot);
      if (position < run.items) {  // else there is no more, and the other CTA may have ended
        barrier_expect(claimed, sizeof(int));
        barrier_arrive_at_other(shared_address(items.read + slot));
      }
    }
  }
  return from_lane(position, 0);
}

/// The item of tile number `number` of the queue, or of the tiles of a cluster. By all lanes.
template <class K>
__device__ __forceinline__ Item tile_at(const Launch<K>& launch, int number, int& near) {
  const Order& order = launch.order;
  const int tile = K::kCluster == 2 ? 2 * number + static_cast<int>(cluster_rank()) : number;
  // The second lane looks up the tile of the other CTA.
  const int asked = computed(order, K::kCluster == 2 && lane_of_warp() == 1 ? tile ^ 1 : tile);
  const auto item_at_place = [&](const Place& place) {
    const Place mine = from_lane(place, 0);
    return item_of(order, tile, mine, shared_by<K>(mine, from_lane(place, K::kCluster - 1)));
  };
  if constexpr (K::Epilogue::kAtRanks) {
    const Stored at = stored(launch.epilogue, asked, near);
    Item item = item_at_place(K::Epilogue::template place<K>(order, launch.epilogue, at));
    item.index = from_lane(at.group, 0);
    item.owner = from_lane(at.owner, 0);
    item.slot = from_lane(at.slot, 0);
    return item;
  } else {
    return item_at_place(K::Feed::template place<K>(order, launch.feed, asked));
  }
}

/// The item at a position. By all lanes.
template <class K>
__device__ __forceinline__ Item item_at(const Launch<K>& launch, int position, int& near) {
  if (position >= launch.run.items) return {.what = kEnd};
  // Hides that the position is new each time: the compiler would keep parts of divisions for all.
  hide(position);
  if constexpr (K::Feed::kWaits) {
    const Turn turn = turn_at(launch.feed, position);
    if (turn.pushes) {
      const int each = launch.feed.shares_an_item;
      const int second = each == 2 ? static_cast<int>(cluster_rank()) : 0;
      return {.what = kPush, .index = turn.number * each + second};
    }
    position = turn.number;
  }
  return tile_at(launch, position, near);
}

// The CTA's own tiles.

template <class K>
__device__ __forceinline__ Ahead ahead_of(const Order& order, int tile) {
  if (!has_tile<K>(order, tile)) return {};
  const auto place_of_tile = [&](int number) {
    return place_of<K::kBlockM, K::kBlockN>(order, computed(order, number));
  };
  const Place place = place_of_tile(tile);
  const Place other = K::kCluster == 2 ? place_of_tile(tile ^ 1) : place;
  return {place, shared_by<K>(place, other)};
}

template <class K>
__device__ __forceinline__ int own_tile(const Order& order) {
  return splits_k<K>(order) ? static_cast<int>(blockIdx.x) / 2 : first_tile(order);
}

/// The item of the CTA's next tile. Every lane looks up one of the next tiles.
template <class K>
__device__ __forceinline__ Item next_item(const Order& order, u32 number, Schedule& schedule) {
  if (schedule.tile < 0) schedule.tile = own_tile<K>(order);
  if (number % kLanes == 0) {
    schedule.ahead = ahead_of<K>(order, nth_tile(order, schedule.tile, lane_of_warp()));
  }
  Item item{.what = kEnd};
  if (has_tile<K>(order, schedule.tile)) {
    const int lane = static_cast<int>(number % kLanes);
    item = item_of(order, schedule.tile, from_lane(schedule.ahead.place, lane),
                   static_cast<Shared>(from_lane(schedule.ahead.shared, lane)));
  }
  schedule.tile = next_tile(order, schedule.tile);
  return item;
}

/// Puts item number `number` into the ring. By all lanes of the scheduling warp. False: it is the
/// end.
template <class K>
__device__ __forceinline__ bool hand_over(const Launch<K>& launch, Items<K>& items, u32 number,
                                          Schedule& schedule) {
  const Order& order = launch.order;
  Item item;
  if constexpr (K::kQueued) {
    const int position = position_of_item(launch, items, number);
    item = item_at(launch, position, schedule.near);
    if (item.what == kEnd) item.index = items.ended;
  } else {
    item = next_item<K>(order, number, schedule);
  }
  if (lane_of_warp() == 0) {
    wait_for_slot(items, number);
    int steps = last_step<K>(order) - first_step<K>(order);
    if constexpr (K::Feed::kWaits) {
      // Here, because a branch more makes the loop of the loading thread longer.
      if (item.what <= kTwin && item.block == launch.feed.own_block) item.slot = kAllChunks;
      if (item.what == kPush) steps = item.slot = steps_of_push<K>(launch.feed, item.index);
    }
    if constexpr (K::Feed::kTilesPush) item.owner = 0;
    item.steps = items.loaded;
    items.loaded = item.steps + steps;
    put(items, number, item);
    if (K::kPingPong && item.what == kEnd) {
      wait_for_slot(items, number + 1);
      put(items, number + 1, item);
    }
  }
  return item.what != kEnd;
}

/// Waits for the chunks of columns that the CTA multiplies of item number `number`, but for chunk
/// 0, which the loading thread waits for, and tells that thread of each: a look at a counter takes
/// most of a microsecond, in which it would load nothing. By one thread of the scheduling warp.
/// `group`: that of the last item with rows of others, -1 at first.
template <class K>
__device__ __forceinline__ void watch_chunks(const Launch<K>& launch, Items<K>& items, u32 number,
                                             int& group) {
  Item& item = items.items[number % kItems];
  const auto& rows = launch.feed;
  const int end = last_step<K>(launch.order);
  if (rows.chunk_steps >= end || item.what == kPush || item.block == rows.own_block) return;
  // Until then the counters may be the last run's.
  if (launch.run.has_barrier != 0) barrier_wait(shared_address(&items.passed_barrier), 0);
  const int tile = computed(launch.order, item.index);
  while (group < 0 || tile >= rows.arrivals[group].end) ++group;
  const int first = first_step<K>(launch.order) / rows.chunk_steps;
#pragma unroll 1
  for (int chunk = first > 1 ? first : 1; chunk * rows.chunk_steps < end; ++chunk) {
    K::Feed::wait_for_chunk(launch.run, rows, group, chunk);
    tell_chunk(item, chunk);
  }
}

/// Counts the chunks of columns of a tile at the peers when they are there, but for the last one.
/// By one thread of the scheduling warp.
template <class K>
__device__ __forceinline__ void count_chunks(const Launch<K>& launch, Items<K>& items, u32 number) {
  Item& item = items.items[number % kItems];
  const auto& rows = launch.feed;
  if (!tile_pushes<K>(rows, item)) return;
  const int last = (launch.order.k_steps - 1) / rows.chunk_steps;
#pragma unroll 1
  for (int chunk = 0; chunk < last; ++chunk) {
    wait_for_pushed(item, chunk + 1);
    count_pushed(rows, chunk);
  }
}

/// The work of the scheduling warp.
template <class K>
__device__ __forceinline__ void schedule_items(const Launch<K>& launch, Items<K>& items,
                                               Schedule& schedule) {
  [[maybe_unused]] int group = -1;
  u32 number = 0;
  while (hand_over(launch, items, number, schedule)) {
    if constexpr (K::kWaitsForChunks) {
      if (lane_of_warp() == 0) watch_chunks(launch, items, number, group);
      __syncwarp();
    }
    if constexpr (K::Feed::kTilesPush) {
      if (lane_of_warp() == 0) count_chunks(launch, items, number);
      __syncwarp();
    }
    if constexpr (K::kQueued) barrier_wait(shared_address(&items.asked), number & 1);
    ++number;
  }
}

}  // namespace overlaptune::kernels::device
