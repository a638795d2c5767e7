// The warps of the GEMM on Hopper that copy: one loads tiles of A and B, and rows that it pushes,
// into the ring of stages; for each consumer one stores C (at ranks: peer_store.cu).

/// Where the next step is loaded to. `before`: steps that were loaded before.
struct Ring {
  int stage;
  u32 phase;
  __device__ __forceinline__ explicit Ring(int before)
      : stage(before % STAGES),
        phase((before / STAGES & 1) ^ 1) {}  // the first waits are over at once
  __device__ __forceinline__ void step() {
    if (++stage < STAGES) return;
    stage = 0;
    phase ^= 1;
  }
};

/// Loads all steps of a tile. By one thread. `own_block`: the block whose rows of A are this rank's
/// own. `ask` is called once, when only the last steps are left: a CTA that took its next item
/// earlier would keep it from others while it waits.
template <class Ask>
__device__ __forceinline__ void load_tile(const TensorMap* gathered, const TensorMap* own_a,
                                          const TensorMap* b, const volatile Item& item,
                                          int own_block, const Order& order, u32 stages, u32 full,
                                          u32 empty, const Ask& ask) {
  constexpr int kLastSteps = 4;  // under these and those in the ring, the answer comes
  const int end = last_step(order);
  int asks = end - kLastSteps;
  if (asks < first_step(order)) asks = first_step(order);
  if (asks >= end) ask();
  Ring ring(item.steps);
  Place place;
  int shared;
  const auto read = [&] {
    place = {item.block, item.row, item.column};
    shared = item.shared;
  };
  read();
#pragma unroll 1
  for (int step = first_step(order); step < end; ++step) {
    if (step == asks) ask();
    if (!kSchedules) read();  // so that no register keeps it
    // Waits until the stage is empty in both CTAs: the consumers of each release it to both.
    barrier_wait(empty + 8 * ring.stage, ring.phase);
    const u32 filled = full + 8 * ring.stage;
    barrier_expect(filled, kStageBytes);
    const u32 to = stages + ring.stage * kStageBytes;
    const bool is_own = WAITS && place.block == own_block;
    const TensorMap* const a = is_own ? own_a : gathered;
    const int block = is_own ? 0 : place.block;
    if (shared != kA) {
      load(to, a, filled, step * kBlockK, place.row, block);
    } else if (step % 2 == static_cast<int>(cluster_rank())) {
      load_for_both(to, a, filled, step * kBlockK, place.row, block);
    }
    if (shared == kB) {
      const u32 half = cluster_rank();
      load_for_both(to + kABytes + half * kBLoadBytes, b, filled, step * kBlockK,
                    place.column + static_cast<int>(half) * kBLoad, 0);
    } else {
#pragma unroll
      for (int part = 0; part < CLUSTER; ++part) {
        load(to + kABytes + part * kBLoadBytes, b, filled, step * kBlockK,
             place.column + part * kBLoad, 0);
      }
    }
    ring.step();
  }
}

#if WAITS

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

/// The part of thread 0 of a consumer in a step of a push that is in the ring: it starts the store
/// at the peer. The step before has been read then.
__device__ __forceinline__ void store_step(const volatile Push& push, int step, u32 from) {
  const u32 bytes = bytes_of_step(push, step);
  if (bytes > 0) {
    store_bytes(reinterpret_cast<char*>(push.to + step * kStepVectors), from, bytes);
  }
  end_stores();
  wait_for_reads<1>();
}

#endif

/// The work of the loading warp. Its first lane loads.
__device__ __forceinline__ void produce(const TensorMap* a, const TensorMap* own_a,
                                        const TensorMap* b, const Run& run, const Order& order,
                                        const Peers& peers, Schedule& schedule, Items& items,
                                        u32 stages, u32 full, u32 empty) {
  const bool loads = lane_of_warp() == 0;
#if WAITS
  int arrived = -1;  // the last group whose rows are there
#endif
  for (u32 number = 0;; ++number) {
    if (!kSchedules && !hand_over(run, order, peers, items, number, schedule)) return;
    if (kSchedules && !loads) return;
    const volatile Item& item = items.items[number % kItems];
    if (loads) wait_for_item(items, number);
    if (kSchedules && item.what == kEnd) return;
#if WAITS
    if (loads && item.what != kPush) {
      if (run.meets != 0 && item.block != peers.own_block) {
        barrier_wait(shared_address(&items.met),
                     0);  // until then the counters may be the last run's
      }
      wait_for_rows(run, peers, computed(order, item.index), arrived);
    }
#endif
    if (!loads) continue;
    const auto ask = [&] {
      if (QUEUED && kSchedules) barrier_arrive(shared_address(&items.asked));
    };
#if WAITS
    if (item.what == kPush) {
      ask();
      load_push(items.pushes[number % kItems], item.steps, stages, full, empty);
      continue;
    }
#endif
#if WAITS
    const int own_block = peers.own_block;
#else
    const int own_block = -1;
#endif
    load_tile(a, own_a, b, item, own_block, order, stages, full, empty, ask);
  }
}

#if QUEUED
/// By each storing warp, before it stores or lets its consumer push: meets the ranks, if no gate
/// has.
__device__ __forceinline__ void begin(const Run& run, int consumer, const Items& items) {
  if (run.meets == 0) return;
  if (consumer == 0 && items.arrived == 0) open(run);
  meet(run, gridDim.x * CONSUMERS);
  fence_copies();  // bulk copies store there
#if WAITS
  if (consumer == 0 && lane_of_warp() == 0) barrier_arrive(shared_address(&items.met));
#endif
}
#endif

#if !RANKS
/// The work of the warp that stores C for one consumer; one thread of it does all.
__device__ __forceinline__ void deliver(const Outputs& outputs, const Run& run, const Order& order,
                                        const Peers& peers, int consumer, Items& items, u32 stages,
                                        u32 full, u32 empty, u32 slabs, u32 filled, u32 free) {
  if (lane_of_warp() != 0) return;
  u32 pass = 0;
  int segment = 0;
  for (u32 number = IN_TURN ? consumer : 0;; number += kStride) {
    const Item item = taken(items, number);
    if (item.what == kEnd) break;
#if WAITS
    if (item.what == kPush) {  // its consumer stores it
      give_back_half(items, number);
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
        store(&outputs.c[SEGMENTS > 1 ? segment : 0], slabs + buffer * kSlabBytes, at.column,
              at.row, at.block);
      }
      end_stores();
      const int read = slab - (BUFFERS - 1);  // the last one that no store reads any more, soon
      if (read >= 0) {
        wait_for_reads<BUFFERS - 1>();
        barrier_arrive(free + 8 * buffer_of(pass, read));
      }
    }
    give_back(items, number);
    wait_for_reads<0>();
    for (int slab = kSlabsOfConsumer - (BUFFERS - 1); slab < kSlabsOfConsumer; ++slab) {
      barrier_arrive(free + 8 * buffer_of(pass, slab));
    }
    ++pass;
    if (order.counters != nullptr) {
      // Waits until the slabs are in memory, not only read; then signals to the whole system. The
      // consumers do not wait for this.
      wait_for_stores();
      increment(order.counters + part.counter, static_cast<u32>(order.signal));
    }
  }
  wait_for_stores();
}
#endif
