// C = A * B^T on Hopper: A is rows x k, B is n x k, C is rows x n, all row-major, 2-byte elements,
// sums in fp32. A tile whose BLOCK_M is no multiple of 64 is computed as (B * A^T)^T.
//
// A persistent launch has one CTA on each SM. In its first warpgroup one warp finds out what comes
// next (hopper_schedule.cu); one thread loads tiles of A and B by TMA into a ring of stages, and
// one thread for each consumer stores C by TMA (hopper_copies.cu). The consumers, CONSUMERS other
// warpgroups, multiply (wgmma): all of them a part of each tile, or each a whole tile in turn, so
// that one stores while the other multiplies.
//
// The two CTAs of a cluster compute tiles that follow one another; where both tiles are in one
// column, or one row, they load B, or A, for both. A kernel that was not made for clusters may be
// launched in clusters of two: then two CTAs share a tile; each multiplies half of k, and stores
// half of the columns. Each wave group has a counter; it is incremented when one of the group's
// tiles is in memory.
//
// Compiled at run time; includes nothing. Macros, all given by the caller of the compiler
// (kernels/hopper_gemm.cpp):
//   BLOCK_M, BLOCK_N  tile; a step of k is 64, one swizzled row of 128 bytes
//   MULTIPLIED        columns of one wgmma: those of the tile, or half of them
//   STAGES            stages of the ring
//   CLUSTER           CTAs: 1 or 2
//   CONSUMERS         warpgroups, each of 64 or 128 rows of wgmmas
//   IN_TURN           1: the consumers (two) take tiles in turn; 0: each has a part of every tile
//   BUFFERS           staging buffers for C, of each consumer: at most its slabs of a tile; 2 or 4
//                     where they do not divide those
//   SEGMENTS          most segments that a launch may have
//   WAITS             as in rows.cu; 0: all rows are there
//   HALF              1: fp16, 0: bf16
//   RANKS, GROUPS     as in peer_store.cu; 0: it stores into C
//   QUEUED            1: WAITS or RANKS is not 0, and work comes from the queue of waits.cu
// kernels/hopper_gemm.cpp puts the other texts before this one, and the function `multiply`, one
// wgmma of m64 x MULTIPLIED x k16. Instructions stand in instructions.cu and hopper_instructions.cu
// only.
//
// Source: PTX ISA 8.x, "Asynchronous warpgroup level matrix instructions" (fragments).

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
      store_sums(theirs + part * kPartBytes + i % (kFirstSlabs * kQuads) * kQuadBytes, sum);
    }
  }
  cluster_barrier();
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
#pragma unroll
    for (int i = 0; i < kSlabs * kQuads; ++i) {
      if ((i < kFirstSlabs * kQuads) != first) continue;
      float other[4];
      read_sums(mine + part * kPartBytes + i % (kFirstSlabs * kQuads) * kQuadBytes, other);
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[part][4 * i + j] += other[j];
    }
  }
}

/// The 16 bytes of a slab that a thread gives the address of: `write_slab` stores four matrices of
/// 8 x 8 at a time, each lane the address of one row. They are the sums of 16 rows and 16 columns
/// of a wgmma: the upper rows of the first columns, the lower ones; the same of the next columns.
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
    const u32 at = slab + (kTransposed ? slab_offset(part.row + 16 * pair, part.chunk)
                                       : slab_offset(part.row, part.chunk + 2 * pair));
    store_matrices<kTransposed>(at, packed(sum[0], sum[1]), packed(sum[2], sum[3]),
                                packed(sum[4], sum[5]), packed(sum[6], sum[7]));
  }
}

/// The first consumer begins at once.
__device__ __forceinline__ void wait_for_turn(u32 turns, int consumer, u32 number) {
  barrier_wait(turns + 8 * consumer, (consumer ^ 1 ^ own_number(number)) & 1);
}

#if WAITS
/// The steps of a push, which consumers find in the ring as they find those of a tile. Of several
/// consumers that share items, the first one stores. By thread 0 of a consumer: nothing holds the
/// others together here, so one that fell behind would miss a phase of a barrier, and wait for
/// ever.
template <class Release>
__device__ __forceinline__ void push_steps(const Items& items, u32 number, const Item& item,
                                           int consumer, u32 stages, u32 full, u32 turns,
                                           const Release& release) {
  const volatile Push& push = items.pushes[number % kItems];
  const bool stores = IN_TURN || consumer == 0;
#pragma unroll 1
  for (int step = 0; step < item.slot; ++step) {
    const int at = item.steps + step;
    barrier_wait(full + 8 * (at % STAGES), at / STAGES & 1);
    if (!stores) {
      release(at % STAGES);
      continue;
    }
    store_step(push, step, stages + at % STAGES * kStageBytes);
    if (step > 0) release((at - 1) % STAGES);
  }
  if (IN_TURN) barrier_arrive(turns + 8 * (consumer ^ 1));
  if (!stores) return;
  wait_for_reads<0>();
  if (item.slot > 0) release((item.steps + item.slot - 1) % STAGES);
  wait_for_stores();  // in the peer's memory
  increment(push.counter, 1);
}
#endif

/// The work of a consumer. `turns`: where consumers take turns, a barrier for each; a consumer
/// waits on its own until the other one has found all its stages full. (It could not tell a stage
/// that was filled for it from one that was filled two rounds before.)
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
      if (thread == 0) {
        if (IN_TURN) wait_for_turn(turns, consumer, number);
        if (run.meets != 0) barrier_wait(shared_address(&items.met), 0);
        push_steps(items, number, item, consumer, stages, full, turns, release);
      }
      consumer_barrier(consumer);  // all have read the item
      if (thread == 0) give_back_half(items, number);
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
      begin_wgmma();
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
      end_wgmma();
      // The stage before has been read once this step's group of wgmma is the only one under way.
      wait_for_wgmma<1>();
      if (last >= 0) release(last);
      last = stage;
      if (++stage == STAGES) {
        stage = 0;
        phase ^= 1;
      }
    }
    if (IN_TURN && thread == 0) barrier_arrive(turns + 8 * (consumer ^ 1));
    wait_for_wgmma<0>();
    // The compiler does not know that the sums are complete only from here on.
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
#pragma unroll
      for (int i = 0; i < kAccumulators; ++i) completed(sums[part][i]);
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
      fence_shared();
      barrier_arrive(filled + 8 * buffer_of(pass, slab));
    };
    const auto sums_of = [&](int slab) { return sums[slab / kSlabs] + slab % kSlabs * kSlab / 2; };
#if RANKS
    wait_for_buffer(0);
    // There since the first buffer of the tile was granted.
    const u32 todo = word_at(shared_address(items.tasks + consumer));
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
  Schedule schedule;
#if QUEUED
  // Under what follows: the answer takes as long.
  const bool schedules = threadIdx.x == 32 * kSchedulingWarp;
  u32 arrived = 1;  // in the second CTA of a cluster: not the first one
  if (schedules && takes_items(order)) arrived = arrive(run);
#else
  const Peers peers{};
  const Run run{};
#endif
#if !WAITS
  const TensorMap& own_a = a;
#endif
  Items& items = shared_object<Items>();
  const u32 stages = (shared_address(dynamic_memory()) + 1023) / 1024 * 1024;
  const u32 slabs = stages + STAGES * kStageBytes;
  const u32 full = shared_address(shared_object<Barriers>().all);
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
    fence_barriers();
  }
#if QUEUED
  if (schedules) items.arrived = arrived;
#endif
  __syncthreads();
  // A CTA may load for the other one, or hand it an item, only after the other's barriers are
  // initialised ...
  const bool in_pairs = CLUSTER == 2 || (QUEUED && shares_tiles(order));
  if (in_pairs) cluster_barrier();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp < 4) {
    give_registers<kLoaderRegisters>();
    if (warp == 0) {
      produce(&a, &own_a, &b, run, order, peers, schedule, items, stages, full, empty);
      wait_for_launch_before();
    }
    if (kSchedules && warp == kSchedulingWarp) {
      schedule_items(run, order, peers, items, schedule);
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
    take_registers<kConsumerRegisters>();
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
