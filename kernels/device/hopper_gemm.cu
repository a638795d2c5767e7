// C = A * B^T on Hopper: A is rows x k, B is n x k, C is rows x n, all row-major, 2-byte elements,
// sums in fp32. A tile whose BLOCK_M is no multiple of 64 is computed as (B * A^T)^T.
// A persistent launch has one CTA on each SM. In its first warpgroup one thread loads
// tiles of A and B by TMA into a ring of stages, and one thread for each consumer stores C by TMA;
// the consumers, CONSUMERS other warpgroups, multiply (wgmma): all of them a part of each tile, or
// each a whole tile in turn, so that one stores while the other multiplies. The two CTAs of a cluster
// compute tiles that follow one another; where both tiles are in one column, or one row, they load B,
// or A, for both. A kernel that was not made for clusters may be launched in clusters of two: then two
// CTAs
// share a tile; each multiplies half of k, and stores half of the columns. Each wave group has a
// counter; it is incremented when one of the group's tiles is in memory.
// Compiled at run time; includes nothing. Macros, all given by the caller of the compiler
// (kernels/hopper_gemm.cpp):
//   BLOCK_M, BLOCK_N  tile; a step of k is 64, one swizzled row of 128 bytes
//   MULTIPLIED        columns of one wgmma: those of the tile, or half of them
//   STAGES            stages of the ring
//   CLUSTER           CTAs: 1 or 2
//   CONSUMERS         warpgroups, each of 64 or 128 rows of wgmmas
//   IN_TURN           1: the consumers (two) take tiles in turn; 0: each has a part of every tile
//   BUFFERS           staging buffers for C, of each consumer: at most its slabs of a tile; if they do
//                     not divide those, 2 or 4
//   SEGMENTS          most segments that a launch may have
//   WAITS             as in rows.cu; 0: all rows are there
//   HALF              1: fp16, 0: bf16
//   RANKS, GROUPS     as in peer_store.cu; 0: it stores into C
//   QUEUED            1: WAITS or RANKS is not 0, and work comes from the queue of waits.cu
// The texts of tiles.cu, those of waits.cu and rows.cu or peer_store.cu where the macros ask for them,
// that of hopper_parts.cu, and the function `multiply`, one wgmma of m64 x MULTIPLIED x k16, come
// before this text.
//
// Sources: PTX ISA 8.x, "Asynchronous warpgroup level matrix instructions" (fragments, matrix
// descriptors), "cp.async.bulk.tensor", "mbarrier", "setmaxnreg"; CUDA C++ Programming Guide, "Tensor
// map".

/// An operand that both CTAs of a cluster need. Each CTA loads half of B for both. A they load in
/// turn, a step each: halves of A, too, made all loads slower.
enum Shared : int { kNone, kA, kB };

/// An item, and where its operands are.
struct Source {
  Item item;
  int shared;
};

__device__ __forceinline__ int shared_by(const Place& place, const Place& other) {
  if (CLUSTER == 1) return kNone;
  if (other.column == place.column) return kB;
  return other.row == place.row && other.block == place.block ? kA : kNone;
}

/// The item of a tile. `place`: that of the tile that is computed.
__device__ __forceinline__ Item item_of(const Order& order, int tile, const Place& place) {
  return {.what = tile < order.tiles ? kTile : kTwin,
          .block = place.block,
          .row = place.row,
          .column = place.column,
          .index = tile};
}

#if QUEUED

/// The queue as the loading warp of a CTA sees it. The first CTA of a cluster takes positions for
/// both.
struct Queue {
  Claim ahead;  // by the first lane of the first CTA
};

__device__ __forceinline__ bool takes_for_other(const Order& order) {
  return CLUSTER == 2 || shares_tiles(order);
}

/// The position of item number `number`. By all lanes.
__device__ __forceinline__ int next_position(const Run& run, const Order& order, Items& items,
                                             u32 number, Queue& queue) {
  // CTAs that share a tile add it up in the memory of their ring: they have no other item.
  const bool one_each = shares_tiles(order);
  int position = run.items;
  if (threadIdx.x == 0) {
    const u32 slot = number % 2;
    const u32 phase = number / 2 & 1;
    if (!takes_for_other(order) || cluster_rank() == 0) {
      if (!one_each) {
        position = position_of(run, queue.ahead);
        if (position >= run.items) items.ended = ends_queue(run, position, false);
      } else if (number == 0) {
        if (queue.ahead.dead == 0) position = queue.ahead.position;
        items.ended = ends_queue(run, queue.ahead.position, true);
      }
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

/// Asks for the position of the next item. A CTA does so when the one before needs no rows that have
/// not arrived: it would keep an item that another CTA could work on. By the first lane.
__device__ __forceinline__ void ask_ahead(const Run& run, const Order& order, Queue& queue) {
  if (shares_tiles(order) || (CLUSTER == 2 && cluster_rank() != 0)) return;
  queue.ahead = claim(run);
}

/// The item at a position. By all lanes. `near`: a step of the queue nearby, -1 at first.
__device__ __forceinline__ Source source_at(const Run& run, const Order& order, const Peers& peers,
                                            int position, int& near) {
  if (position >= run.items) return {{.what = kEnd}};
  // Hides that the position is new each time: the compiler would keep parts of divisions for all.
  asm volatile("" : "+r"(position));
#if WAITS
  const Turn turn = turn_at(peers, position);
  if (turn.pushes) {
    const int second = peers.shares_an_item == 2 ? static_cast<int>(cluster_rank()) : 0;
    return {{.what = kPush, .index = turn.number * peers.shares_an_item + second}};
  }
  const int number = turn.number;
#else
  const int number = position;
#endif
  const int tile = CLUSTER == 2 ? 2 * number + static_cast<int>(cluster_rank()) : number;
  // The second lane looks up the tile of the other CTA.
  const int asked = CLUSTER == 2 && threadIdx.x == 1 ? tile ^ 1 : tile;
#if RANKS
  const Stored at = stored(peers, computed(order, asked), near);
  const Place place = place_in(order, peers, at);
#else
  const Place place = place_in(order, peers, computed(order, asked));
#endif
  const Place own = from_lane(place, 0);
  Source source{item_of(order, tile, own), shared_by(own, from_lane(place, 1))};
#if RANKS
  source.item.index = from_lane(at.group, 0);
  source.item.owner = from_lane(at.owner, 0);
  source.item.slot = from_lane(at.slot, 0);
#endif
  return source;
}

#else

/// One of the next tiles, as a lane keeps it.
struct Ahead {
  Place place;
  int shared;
};

__device__ __forceinline__ Ahead ahead_of(const Order& order, int tile) {
  if (!has_tile(order, tile)) return {};
  const Place place = place_of(order, computed(order, tile));
  const Place other = CLUSTER == 2 ? place_of(order, computed(order, tile ^ 1)) : place;
  return {place, shared_by(place, other)};
}

/// The item of a tile that lane `lane` knows.
__device__ __forceinline__ Source source_of(const Order& order, int tile, const Ahead& ahead,
                                            int lane) {
  const Place place = from_lane(ahead.place, lane);
  const int shared = CLUSTER == 1 ? kNone : from_lane(ahead.shared, lane);
  if (!has_tile(order, tile)) return {{.what = kEnd}};
  return {item_of(order, tile, place), shared};
}

__device__ __forceinline__ int own_tile(const Order& order) {
  return shares_tiles(order) ? static_cast<int>(blockIdx.x) / 2 : first_tile(order);
}

#endif

/// Where the next step is loaded to. `before`: steps that were loaded before.
struct Ring {
  int stage;
  u32 phase;
  __device__ __forceinline__ explicit Ring(int before)
      : stage(before % STAGES), phase((before / STAGES & 1) ^ 1) {}  // the first waits are over at once
  __device__ __forceinline__ void step() {
    if (++stage < STAGES) return;
    stage = 0;
    phase ^= 1;
  }
};

/// Loads all steps of a tile. By one thread.
__device__ __forceinline__ void load_tile(const TensorMap* a, const TensorMap* b,
                                          const Source& source, const Order& order, u32 stages,
                                          u32 full, u32 empty) {
  const Item& item = source.item;
  const int end = last_step(order);
  Ring ring(item.steps);
#pragma unroll 1
  for (int step = first_step(order); step < end; ++step) {
    // Waits until the stage is empty in both CTAs: the consumers of each release it to both.
    barrier_wait(empty + 8 * ring.stage, ring.phase);
    const u32 filled = full + 8 * ring.stage;
    barrier_expect(filled, kStageBytes);
    const u32 to = stages + ring.stage * kStageBytes;
    if (source.shared != kA) {
      load(to, a, filled, step * kBlockK, item.row, item.block);
    } else if (step % 2 == static_cast<int>(cluster_rank())) {
      load_for_both(to, a, filled, step * kBlockK, item.row, item.block);
    }
    if (source.shared == kB) {
      const u32 half = cluster_rank();
      load_for_both(to + kABytes + half * kBLoadBytes, b, filled, step * kBlockK,
                    item.column + static_cast<int>(half) * kBLoad, 0);
    } else {
#pragma unroll
      for (int part = 0; part < CLUSTER; ++part) {
        load(to + kABytes + part * kBLoadBytes, b, filled, step * kBlockK,
             item.column + part * kBLoad, 0);
      }
    }
    ring.step();
  }
}

#if WAITS

/// A push passes through the ring as steps of so many bytes: the loading thread loads them, and the
/// storing thread of the item's (first) consumer stores them at the peer. Both CTAs of a cluster take
/// as many steps.
/// The fields are read anew each time: these threads have few registers.
constexpr int kStepVectors = kStageBytes / 16;
__device__ __forceinline__ int steps_of(const volatile Push& push) {
  return (push.most + kStepVectors - 1) / kStepVectors;
}
/// Bytes of a step, maybe none.
__device__ __forceinline__ u32 bytes_of_step(const volatile Push& push, int step) {
  const int left = push.vectors - step * kStepVectors;
  return left <= 0 ? 0 : 16 * (left < kStepVectors ? left : kStepVectors);
}

/// By one thread.
__device__ __forceinline__ void load_push(const volatile Push& push, int before, u32 stages,
                                          u32 full, u32 empty) {
  Ring ring(before);
#pragma unroll 1
  for (int step = 0; step < steps_of(push); ++step) {
    barrier_wait(empty + 8 * ring.stage, ring.phase);
    const u32 filled = full + 8 * ring.stage;
    const u32 bytes = bytes_of_step(push, step);
    barrier_expect(filled, bytes);
    if (bytes > 0) {
      load_bytes(stages + ring.stage * kStageBytes,
                 reinterpret_cast<const char*>(push.from + step * kStepVectors), filled, bytes);
    }
    ring.step();
  }
}

/// Releases a stage as its consumers would.
__device__ __forceinline__ void release_for_all(u32 empty) {
#pragma unroll
  for (int i = 0; i < kOfOneTile; ++i) {
    barrier_arrive(empty);
    if (CLUSTER == 2) barrier_arrive_at_other(empty);
  }
}

/// Stores the steps of a push, of which `before` have been loaded before. By one thread.
__device__ __forceinline__ void store_push(const volatile Push& push, int before, u32 stages,
                                           u32 full, u32 empty, u32 loaded) {
  if (steps_of(push) == 0) barrier_arrive(loaded);
#pragma unroll 1
  for (int step = 0; step < steps_of(push); ++step) {
    const u32 stage = (before + step) % STAGES;
    barrier_wait(full + 8 * stage, (before + step) / STAGES & 1);
    if (step + 1 == steps_of(push)) barrier_arrive(loaded);
    const u32 bytes = bytes_of_step(push, step);
    if (bytes > 0) {
      store_bytes(reinterpret_cast<char*>(push.to + step * kStepVectors),
                  stages + stage * kStageBytes, bytes);
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    if (step > 0) release_for_all(empty + 8 * ((before + step - 1) % STAGES));
  }
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  const int steps = steps_of(push);
  if (steps > 0) release_for_all(empty + 8 * ((before + steps - 1) % STAGES));
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");  // in the peer's memory
  increment(push.counter, 1);
}

#endif

/// The work of the loading warp: it finds out what comes next, hands it to the other warps, and loads
/// for it. Its first lane loads. In a launch that never waits, every lane looks up one of the next 32
/// tiles.
__device__ __forceinline__ void produce(const TensorMap* a, const TensorMap* own_a,
                                        const TensorMap* b, const Run& run, const Order& order,
                                        const Peers& peers, Claim first, Items& items, u32 stages,
                                        u32 full, u32 empty) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int steps = last_step(order) - first_step(order);
  int loaded = 0;  // steps
#if QUEUED
  Queue queue{first};
  int near = -1;  // of the lane's tile
#else
  int tile = own_tile(order);
  Ahead ahead{};
#endif
  for (u32 number = 0;; ++number) {
#if QUEUED
    const int position = next_position(run, order, items, number, queue);
    Source source = source_at(run, order, peers, position, near);
    if (number == 0 && lane == 0) items.opens = position == 0 && cluster_rank() == 0;
    if (source.item.what == kEnd) source.item.index = items.ended;
#else
    if (number % 32 == 0) ahead = ahead_of(order, nth_tile(order, tile, lane));
    Source source = source_of(order, tile, ahead, static_cast<int>(number % 32));
    tile = next_tile(order, tile);
#endif
    source.item.steps = loaded;
    if (lane == 0) {
      wait_for_slot(items, number);
      put(items, number, source.item);
      if (IN_TURN && source.item.what == kEnd) {
        wait_for_slot(items, number + 1);
        put(items, number + 1, source.item);
      }
    }
    if (source.item.what == kEnd) {
#if QUEUED
      if (lane == 0) tell_left_out(run, queue.ahead);
#endif
      return;
    }
#if RANKS
    if (lane == 0) ask_ahead(run, order, queue);
#endif
#if WAITS
    if (source.item.what == kPush) {
      if (lane != 0) continue;
      ask_ahead(run, order, queue);
      const volatile Push& push = items.pushes[number % kItems];
      const u32 before = items.described_before;
      items.described_before = before + 1;
      barrier_wait(shared_address(&items.described), before & 1);
      load_push(push, loaded, stages, full, empty);
      loaded += steps_of(push);
      continue;
    }
#endif
    loaded += steps;
    if (lane != 0) continue;
    const TensorMap* from = a;
#if WAITS
    int arrived = items.arrived;
    if (run.meets != 0 && source.item.block != peers.own_block) {
      barrier_wait(shared_address(&items.met), 0);  // until then the counters may be the last run's
    }
    wait_for_rows(run, peers, computed(order, source.item.index), arrived);
    items.arrived = arrived;
    ask_ahead(run, order, queue);
    if (source.item.block == peers.own_block) {
      from = own_a;
      source.item.block = 0;
    }
#endif
    load_tile(from, b, source, order, stages, full, empty);
  }
}

/// The number of an item among those of its consumer.
__device__ __forceinline__ u32 own_number(u32 number) { return number / kStride; }

#if QUEUED
/// By each storing warp, before it stores or lets its consumer push: meets the ranks, if no gate has.
__device__ __forceinline__ void begin(const Run& run, int consumer, const Items& items) {
  if (run.meets == 0) return;
  if (consumer == 0) {
    taken(items, 0);
    if (items.opens) open(run);
  }
  meet(run, gridDim.x * CONSUMERS);
  asm volatile("fence.proxy.async;" ::: "memory");  // bulk copies store there
#if WAITS
  if (consumer == 0 && threadIdx.x % 32 == 0) barrier_arrive(shared_address(&items.met));
#endif
}
#endif

#if !RANKS
/// The work of the warp that stores C for one consumer; one thread of it does all.
__device__ __forceinline__ void deliver(const Outputs& outputs, const Run& run, const Order& order,
                                        const Peers& peers, int consumer, Items& items, u32 stages,
                                        u32 full, u32 empty, u32 slabs, u32 filled,
                                        u32 free) {
  if (threadIdx.x % 32 != 0) return;
  u32 pass = 0;
  int segment = 0;
  for (u32 number = IN_TURN ? consumer : 0;; number += kStride) {
    const Item item = taken(items, number);
    if (item.what == kEnd) break;
#if WAITS
    if (item.what == kPush) {
      if (IN_TURN || consumer == 0) {  // else the first consumer's storing warp does it
        // The loading warp has no registers for it.
        put_push(peers, item.index, items.pushes[number % kItems]);
        barrier_arrive(shared_address(&items.described));
        // Until its consumers have used all stages before, one that is filled for them could be taken
        // for a later one.
        barrier_wait(shared_address(items.reached + consumer), (own_number(number) - pass) & 1);
        store_push(items.pushes[number % kItems], item.steps, stages, full, empty,
                   shared_address(items.loaded + consumer));
      }
      give_back(items, number);
      continue;
    }
#endif
    if (item.what == kTwin) {  // the last item but the end
      give_back(items, number);
      continue;
    }
    while (SEGMENTS > 1 && item.index >= order.segments[segment].end) ++segment;
    const Segment& part = order.segments[SEGMENTS > 1 ? segment : 0];
    Place first = first_slab({item.block, item.row, item.column}, consumer);
    first.row -= part.first_row;
    first.column -= part.first_column;
    for (int slab = 0; slab < kSlabsOfConsumer; ++slab) {
      const u32 buffer = buffer_of(pass, slab);
      barrier_wait(filled + 8 * buffer, uses_before(pass, slab) & 1);
      if (stores(order, slab)) {
        const Place at = place_of_slab(first, slab);
        store(&outputs.c[SEGMENTS > 1 ? segment : 0], slabs + buffer * kSlabBytes, at.column, at.row, at.block);
      }
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      const int read = slab - (BUFFERS - 1);  // the last one that no store reads any more, soon
      if (read >= 0) {
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(BUFFERS - 1) : "memory");
        barrier_arrive(free + 8 * buffer_of(pass, read));
      }
    }
    give_back(items, number);
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    for (int slab = kSlabsOfConsumer - (BUFFERS - 1); slab < kSlabsOfConsumer; ++slab) {
      barrier_arrive(free + 8 * buffer_of(pass, slab));
    }
    ++pass;
    if (order.counters != nullptr) {
      // Waits until the slabs are in memory, not only read; then signals to the whole system. The
      // consumers do not wait for this.
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
      asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(order.counters + part.counter),
                   "r"(order.signal)
                   : "memory");
    }
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
#endif

/// Adds up the sums of a tile that two CTAs share; each has those of half of k. Each CTA writes the
/// sums of the slabs that the other one stores into the other's ring, which is no longer loaded
/// into, and adds the sums that it receives. All threads of both CTAs meet twice.
__device__ __forceinline__ void exchange_halves(float (&sums)[kParts][kAccumulators], int consumer,
                                                u32 ring) {
  constexpr int kQuads = kSlab / 8;  // quads of sums in a slab, for each thread
  constexpr int kQuadBytes = 128 * 16;
  constexpr int kPartBytes = kFirstSlabs * kQuads * kQuadBytes;
  static_assert(kOfOneTile * kParts * kPartBytes <= STAGES * kStageBytes, "more than the ring");
  const bool first = cluster_rank() == 0;
  const u32 mine = ring + consumer * kParts * kPartBytes + threadIdx.x % 128 * 16;
  const u32 theirs = at_other(mine);
  cluster_barrier();
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
#pragma unroll
    for (int i = 0; i < kSlabs * kQuads; ++i) {
      if ((i < kFirstSlabs * kQuads) == first) continue;
      const float* sum = &sums[part][4 * i];
      asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(
                       theirs + part * kPartBytes + i % (kFirstSlabs * kQuads) * kQuadBytes),
                   "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3])
                   : "memory");
    }
  }
  cluster_barrier();
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
#pragma unroll
    for (int i = 0; i < kSlabs * kQuads; ++i) {
      if ((i < kFirstSlabs * kQuads) != first) continue;
      float other[4];
      asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(other[0]), "=f"(other[1]), "=f"(other[2]), "=f"(other[3])
                   : "r"(mine + part * kPartBytes + i % (kFirstSlabs * kQuads) * kQuadBytes)
                   : "memory");
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[part][4 * i + j] += other[j];
    }
  }
}

/// The 16 bytes of a slab that a thread gives the address of: `write_slab` stores four matrices of
/// 8 x 8 at a time, each lane the address of one row. They are the sums of 16 rows and 16 columns of
/// a wgmma: the upper rows of the first columns, the lower ones; the same of the next columns.
struct SlabPart {
  int row;
  int chunk;
};
__device__ __forceinline__ SlabPart part_of(int thread) {
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int lower = lane / 8 & 1;
  const int next = lane / 16;
  if (kTransposed) return {8 * next + lane % 8, 2 * warp + lower};
  return {16 * warp + 8 * lower + lane % 8, next};
}

/// Writes the sums of a slab as rows of C; of a transposed tile, it transposes each matrix.
__device__ __forceinline__ void write_slab(const float* sums, u32 slab, const SlabPart& part) {
#pragma unroll
  for (int pair = 0; pair < kSlab / 16; ++pair) {
    const float* sum = sums + 8 * pair;
#if BLOCK_M % 64
    const u32 at = slab + slab_offset(part.row + 16 * pair, part.chunk);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
#else
    const u32 at = slab + slab_offset(part.row, part.chunk + 2 * pair);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
#endif
                 "r"(packed(sum[0], sum[1])), "r"(packed(sum[2], sum[3])),
                 "r"(packed(sum[4], sum[5])), "r"(packed(sum[6], sum[7]))
                 : "memory");
  }
}

/// The first consumer begins at once.
__device__ __forceinline__ void wait_for_turn(u32 turns, int consumer, u32 number) {
  barrier_wait(turns + 8 * consumer, (consumer ^ 1 ^ own_number(number)) & 1);
}

/// The work of a consumer. `turns`: where consumers take turns, a barrier for each; a consumer waits
/// on its own until the other one has found all its stages full. (It could not tell a stage that
/// was filled for it from one that was filled two rounds before.)
__device__ __forceinline__ void consume(const Run& run, const Order& order, const Peers& peers,
                                        int consumer, const Items& items, u32 stages, u32 slabs,
                                        u32 full, u32 empty, u32 filled, u32 free, u32 turns) {
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const int first_row = first_of(consumer);
  const SlabPart slab_part = part_of(thread);
  int stage = 0;
  u32 phase = 0;
  u32 pass = 0;  // of the consumer's slabs through the staging buffers
  const auto release = [&](int which) {
    if (thread != 0) return;
    barrier_arrive(empty + 8 * which);
    if (CLUSTER == 2) barrier_arrive_at_other(empty + 8 * which);
  };
  const int begin = first_step(order);
  const int end = last_step(order);
  bool added_up = !shares_tiles(order);
  for (u32 number = IN_TURN ? consumer : 0;; number += kStride) {
    const Item item = taken(items, number);
    if (item.what == kEnd) break;
#if WAITS
    if (item.what == kPush) {
      // Rows pass through the stages now. As with the other consumer's tile, a stage that is full
      // of them could be taken for a later one.
      if (IN_TURN) wait_for_turn(turns, consumer, number);
      const int pusher = IN_TURN ? consumer : 0;
      barrier_arrive(shared_address(items.reached + pusher));
      // All items before it are pushes or tiles.
      barrier_wait(shared_address(items.loaded + pusher), (own_number(number) - pass) & 1);
      if (IN_TURN && thread == 0) barrier_arrive(turns + 8 * (consumer ^ 1));
      continue;
    }
    stage = item.steps % STAGES;
    phase = item.steps / STAGES & 1;
#endif
    if (IN_TURN) {
      // The stages of the other consumer's tile are skipped.
      stage = item.steps % STAGES;
      phase = item.steps / STAGES & 1;
      wait_for_turn(turns, consumer, number);
    }
    float sums[kParts][kAccumulators];
    int last = -1;
    for (int step = begin; step < end; ++step) {
      barrier_wait(full + 8 * stage, phase);
      const u32 from = stages + stage * kStageBytes;
      const u32 rows = from + (kTransposed ? kABytes : 0) + first_row * kRowBytes;
      const u64 columns = descriptor(from + (kTransposed ? 0 : kABytes));
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < kBlockK / 16; ++k) {
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
          const u64 down = descriptor(rows + part * 64 * kRowBytes);
#pragma unroll
          for (int i = 0; i < kAcross / MULTIPLIED; ++i) {
            // Offsets of a descriptor are in units of 16 bytes.
            multiply(sums[part] + i * MULTIPLIED / 2, down + 2 * k,
                     columns + i * (MULTIPLIED * kRowBytes / 16) + 2 * k, step + k > begin);
          }
        }
      }
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      // The stage before has been read once this step's group of wgmma is the only one under way.
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (last >= 0) release(last);
      last = stage;
      if (++stage == STAGES) {
        stage = 0;
        phase ^= 1;
      }
    }
    if (IN_TURN && thread == 0) barrier_arrive(turns + 8 * (consumer ^ 1));
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    // The compiler does not know that the sums are complete only from here on.
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
#pragma unroll
      for (int i = 0; i < kAccumulators; ++i) asm volatile("" : "+f"(sums[part][i])::"memory");
    }
    release(last);
    if (item.what == kTwin) continue;
    if (shares_tiles(order)) exchange_halves(sums, consumer, stages);
    added_up = true;

    const auto wait_for_buffer = [&](int slab) {
      const u32 buffer = buffer_of(pass, slab);
      // Without peers, all buffers are free at first.
      barrier_wait(free + 8 * buffer, (uses_before(pass, slab) & 1) ^ (RANKS ? 0 : 1));
      return slabs + buffer * kSlabBytes;
    };
    const auto pass_on_buffer = [&](int slab) {
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      barrier_arrive(filled + 8 * buffer_of(pass, slab));
    };
    const auto sums_of = [&](int slab) { return sums[slab / kSlabs] + slab % kSlabs * kSlab / 2; };
#if RANKS
    wait_for_buffer(0);
    u32 todo;  // there since the first buffer of the tile was granted
    asm volatile("ld.shared.u32 %0, [%1];"
                 : "=r"(todo)
                 : "r"(shared_address(items.tasks + consumer))
                 : "memory");
    if (todo == kFillForOwner) {
#pragma unroll
      for (int slab = 0; slab < kSlabsOfConsumer; ++slab) {
        const u32 to = wait_for_buffer(slab);
        if (stores(order, slab)) write_fragments(sums_of(slab), to, thread);
        pass_on_buffer(slab);
      }
      ++pass;
      continue;
    }
    if (todo == kAddAndFill) {
#pragma unroll 1
      for (int peer = 1; peer < RANKS; ++peer) {
#pragma unroll
        for (int slab = 0; slab < kSlabsOfConsumer; ++slab) {
          const u32 from = wait_for_buffer(slab);
          if (stores(order, slab)) add_fragments(sums_of(slab), from, thread);
          pass_on_buffer(slab);
        }
        ++pass;
      }
    }
#endif
#pragma unroll
    for (int slab = 0; slab < kSlabsOfConsumer; ++slab) {
      const u32 to = wait_for_buffer(slab);
      if (stores(order, slab)) write_slab(sums_of(slab), to, slab_part);
      pass_on_buffer(slab);
    }
    ++pass;
  }
  if (!added_up) {  // the meetings of exchange_halves
    cluster_barrier();
    cluster_barrier();
  }
}

#if CLUSTER == 2
#define IN_CLUSTERS __cluster_dims__(2, 1, 1)
#else
#define IN_CLUSTERS
#endif

extern "C" __global__ void IN_CLUSTERS __launch_bounds__(128 * (CONSUMERS + 1), 1)
    hopper_gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                const __grid_constant__ Outputs outputs, const __grid_constant__ Order order
#if QUEUED
                ,
                const __grid_constant__ Peers peers, const __grid_constant__ Run run
#endif
#if WAITS
                ,
                const __grid_constant__ TensorMap own_a
#endif
    ) {
  Claim first{};
#if QUEUED
  // Under what follows: the answer takes as long.
  if (threadIdx.x == 0 && (!takes_for_other(order) || cluster_rank() == 0)) first = claim(run);
#else
  const Peers peers{};
  const Run run{};
#endif
#if !WAITS
  const TensorMap& own_a = a;
#endif
  extern __shared__ char memory[];
  __shared__ alignas(8) u64 barriers[2 * STAGES + 2 * BUFFERS * CONSUMERS + 2];
  __shared__ Items items;
  const u32 stages = (shared_address(memory) + 1023) / 1024 * 1024;
  const u32 slabs = stages + STAGES * kStageBytes;
  const u32 full = shared_address(barriers);
  const u32 empty = full + 8 * STAGES;
  const u32 filled = empty + 8 * STAGES;
  const u32 free = filled + 8 * BUFFERS * CONSUMERS;
  const u32 turns = free + 8 * BUFFERS * CONSUMERS;
  if (threadIdx.x == 0) {
    prefetch(&a);
    if (WAITS) prefetch(&own_a);
    prefetch(&b);
    prefetch(&outputs.c[0]);
    for (int i = 0; i < STAGES; ++i) {
      barrier_init(full + 8 * i, 1);
      barrier_init(empty + 8 * i, CLUSTER * kOfOneTile);
    }
    for (int i = 0; i < BUFFERS * CONSUMERS; ++i) {
      barrier_init(filled + 8 * i, 128);
      barrier_init(free + 8 * i, 1);
    }
    for (int i = 0; i < 2; ++i) barrier_init(turns + 8 * i, 1);
    init(items);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  // A CTA may load for the other one, or hand it an item, only after the other's barriers are
  // initialised ...
  const bool in_pairs = CLUSTER == 2 || (QUEUED && shares_tiles(order));
  if (in_pairs) cluster_barrier();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp < 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kLoaderRegisters));
    if (warp == 0) {
      produce(&a, &own_a, &b, run, order, peers, first, items, stages, full, empty);
    }
#if QUEUED
    if (warp >= 1 && warp <= CONSUMERS) begin(run, warp - 1, items);
#endif
    if (shares_tiles(order)) {  // the meetings of exchange_halves
      __syncwarp();
      cluster_barrier();
      cluster_barrier();
    }
    if (warp >= 1 && warp <= CONSUMERS) {
      const int consumer = warp - 1;
      const u32 buffers = BUFFERS * consumer;
      deliver(outputs, run, order, peers, consumer, items, stages, full, empty,
              slabs + buffers * kSlabBytes, filled + 8 * buffers, free + 8 * buffers);
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kConsumerRegisters));
    const int consumer = warp / 4 - 1;
    const u32 buffers = BUFFERS * consumer;
    consume(run, order, peers, consumer, items, stages, slabs + buffers * kSlabBytes, full, empty,
            filled + 8 * buffers, free + 8 * buffers, turns);
  }
  // ... and may end only after the other one has released its last stage to it.
  if (CLUSTER == 2) {
    __syncwarp();
    cluster_barrier();
  }
}
