// The schedule of a CTA of the GEMM on Hopper: the scheduling warp takes positions of the queue,
// or counts through the CTA's own tiles where the launch never waits, looks their places up, and
// puts items into the ring.

/// An operand that both CTAs of a cluster need. Each CTA loads half of B for both. A they load in
/// turn, a step each: halves of A, too, made all loads slower.
enum Shared : short { kNone, kA, kB };

__device__ __forceinline__ Shared shared_by(const Place& place, const Place& other) {
  if (CLUSTER == 1) return kNone;
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

#if QUEUED

/// State of the scheduling warp. The first CTA of a cluster takes positions for both.
struct Schedule {
  int near = -1;  // a step of the queue near the lane's tile
};

__device__ __forceinline__ bool takes_for_other(const Order& order) {
  return CLUSTER == 2 || shares_tiles(order);
}

/// Whether this CTA takes items: for itself, or for both CTAs.
__device__ __forceinline__ bool takes_items(const Order& order) {
  return !takes_for_other(order) || cluster_rank() == 0;
}

/// The cluster's number.
__device__ __forceinline__ int own_cluster(const Order& order) {
  return static_cast<int>(blockIdx.x) / (takes_for_other(order) ? 2 : 1);
}

/// The position of item number `number`. By all lanes.
__device__ __forceinline__ int position_of_item(const Run& run, const Order& order,
                                                const Peers& peers, Items& items, u32 number) {
  // CTAs that share a tile add it up in the memory of their ring: they have no other item.
  const bool one_each = shares_tiles(order);
  int position = run.items;
  if (lane_of_warp() == 0) {
    const u32 slot = number % 2;
    const u32 phase = number / 2 & 1;
    if (takes_items(order)) {
      if (number == 0) {
        position = first_position(run, peers, own_cluster(order), items);
      } else if (!one_each) {
        position = next_position(run, peers, items);
      }
      items.position = position;
      if (one_each ? number == 0 : position >= run.items) items.ended = leave(run, items);
      if (takes_for_other(order)) {
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

/// The item at a position. By all lanes.
__device__ __forceinline__ Item item_at(const Run& run, const Order& order, const Peers& peers,
                                        int position, int& near) {
  if (position >= run.items) return {.what = kEnd};
  // Hides that the position is new each time: the compiler would keep parts of divisions for all.
  hide(position);
#if WAITS
  const Turn turn = turn_at(peers, position);
  if (turn.pushes) {
    const int second = peers.shares_an_item == 2 ? static_cast<int>(cluster_rank()) : 0;
    return {.what = kPush, .index = turn.number * peers.shares_an_item + second};
  }
  const int number = turn.number;
#else
  const int number = position;
#endif
  const int tile = CLUSTER == 2 ? 2 * number + static_cast<int>(cluster_rank()) : number;
  // The second lane looks up the tile of the other CTA.
  const int asked = CLUSTER == 2 && lane_of_warp() == 1 ? tile ^ 1 : tile;
#if RANKS
  const Stored at = stored(peers, computed(order, asked), near);
  const Place place = place_in(order, peers, at);
#else
  const Place place = place_in(order, peers, computed(order, asked));
#endif
  const Place mine = from_lane(place, 0);
  Item item = item_of(order, tile, mine, shared_by(mine, from_lane(place, CLUSTER - 1)));
#if RANKS
  item.index = from_lane(at.group, 0);
  item.owner = from_lane(at.owner, 0);
  item.slot = from_lane(at.slot, 0);
#endif
  return item;
}

#else

/// One of the next tiles, as a lane keeps it.
struct Ahead {
  Place place;
  int shared;
};

struct Schedule {
  int tile = -1;
  Ahead ahead{};  // the lane's
};

__device__ __forceinline__ Ahead ahead_of(const Order& order, int tile) {
  if (!has_tile(order, tile)) return {};
  const Place place = place_of(order, computed(order, tile));
  const Place other = CLUSTER == 2 ? place_of(order, computed(order, tile ^ 1)) : place;
  return {place, shared_by(place, other)};
}

__device__ __forceinline__ int own_tile(const Order& order) {
  return shares_tiles(order) ? static_cast<int>(blockIdx.x) / 2 : first_tile(order);
}

#endif

/// Puts item number `number` into the ring. By all lanes of the scheduling warp. False: it is the
/// end. In a launch that never waits, every lane looks up one of the next tiles.
__device__ __forceinline__ bool hand_over(const Run& run, const Order& order, const Peers& peers,
                                          Items& items, u32 number, Schedule& schedule) {
#if QUEUED
  const int position = position_of_item(run, order, peers, items, number);
  Item item = item_at(run, order, peers, position, schedule.near);
  if (item.what == kEnd) item.index = items.ended;
#else
  if (schedule.tile < 0) schedule.tile = own_tile(order);
  if (number % kLanes == 0) {
    schedule.ahead = ahead_of(order, nth_tile(order, schedule.tile, lane_of_warp()));
  }
  Item item{.what = kEnd};
  if (has_tile(order, schedule.tile)) {
    const int lane = static_cast<int>(number % kLanes);
    item = item_of(order, schedule.tile, from_lane(schedule.ahead.place, lane),
                   static_cast<Shared>(from_lane(schedule.ahead.shared, lane)));
  }
  schedule.tile = next_tile(order, schedule.tile);
#endif
  if (lane_of_warp() == 0) {
    wait_for_slot(items, number);
    int steps = last_step(order) - first_step(order);
#if WAITS
    if (item.what == kPush) {
      volatile Push& push = items.pushes[number % kItems];
      put_push(peers, item.index, push);
      steps = item.slot = steps_of(push);
    }
#endif
    item.steps = items.loaded;
    items.loaded = item.steps + steps;
    put(items, number, item);
    if (IN_TURN && item.what == kEnd) {
      wait_for_slot(items, number + 1);
      put(items, number + 1, item);
    }
  }
  return item.what != kEnd;
}

/// The work of the scheduling warp.
__device__ __forceinline__ void schedule_items(const Run& run, const Order& order,
                                               const Peers& peers, Items& items,
                                               Schedule& schedule) {
  u32 number = 0;
  while (hand_over(run, order, peers, items, number, schedule)) {
#if QUEUED
    barrier_wait(shared_address(&items.asked), number & 1);
#endif
    ++number;
  }
}
