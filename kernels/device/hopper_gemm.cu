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
//   WAITS, PATIENCE   as in tiles.cu
//   HALF              1: fp16, 0: bf16
//   RANKS, GROUPS     as in peer_store.cu
// The texts of tiles.cu, hopper_parts.cu and peer_store.cu and the function `multiply`, one wgmma of
// m64 x MULTIPLIED x k16, come before this text.
//
// Sources: PTX ISA 8.x, "Asynchronous warpgroup level matrix instructions" (fragments, matrix
// descriptors), "cp.async.bulk.tensor", "mbarrier", "setmaxnreg"; CUDA C++ Programming Guide, "Tensor
// map".

/// An operand that both CTAs of a cluster need. Each CTA loads half of B for both. A they load in
/// turn, a step each: halves of A, too, made all loads slower.
enum Shared : int { kNone, kA, kB };

/// Where the operands of a tile are.
struct Source {
  Place place;
  int shared;
};

/// `group`: as of `place_in`.
__device__ __forceinline__ Source source_of(const Order& order, const Peers& peers, int tile,
                                            int& group) {
  if (!has_step(order, tile)) return {};
  const Place place = place_in(order, peers, computed(order, tile), group);
  if (CLUSTER == 1) return {place, kNone};
  const Place other = place_in(order, peers, computed(order, tile ^ 1), group);
  if (other.column == place.column) return {place, kB};
  return {place, other.row == place.row && other.block == place.block ? kA : kNone};
}

__device__ __forceinline__ Source from_lane(const Source& source, int lane) {
  return {from_lane(source.place, lane), CLUSTER == 1 ? kNone : from_lane(source.shared, lane)};
}

/// The work of the loading warp. Every lane looks up one of the next 32 tiles; the first one loads.
__device__ __forceinline__ void produce(const TensorMap* a, const TensorMap* own_a,
                                        const TensorMap* b, const Order& order, const Peers& peers,
                                        u32 stages, u32 full, u32 empty) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int stage = 0;
  u32 phase = 1;  // the ring is empty: the first waits are over at once
  const int begin = first_step(order);
  const int end = last_step(order);
  Source ahead{};
  int group = -1;    // of the lane's tile
  int arrived = -1;  // the last group whose rows are there
  int turn = 0;
  for (int tile = own_tile(order); has_step(order, tile); tile = next_tile(order, tile)) {
    if (turn % 32 == 0) ahead = source_of(order, peers, nth_tile(order, tile, lane), group);
    const Source source = from_lane(ahead, turn++ % 32);
    if (lane != 0) continue;
    Place place = source.place;
    const TensorMap* from = a;
    wait_for_rows(peers, computed(order, tile), arrived);
#if WAITS
    from = place.block == peers.own_block ? own_a : a;
    if (from == own_a) place.block = 0;
#endif
#pragma unroll 1
    for (int step = begin; step < end; ++step) {
      // Waits until the stage is empty in both CTAs: the consumers of each release it to both.
      barrier_wait(empty + 8 * stage, phase);
      barrier_expect(full + 8 * stage, kStageBytes);
      const u32 to = stages + stage * kStageBytes;
      if (source.shared != kA) {
        load(to, from, full + 8 * stage, step * kBlockK, place.row, place.block);
      } else if (step % 2 == static_cast<int>(cluster_rank())) {
        load_for_both(to, from, full + 8 * stage, step * kBlockK, place.row, place.block);
      }
      if (source.shared == kB) {
        const u32 half = cluster_rank();
        load_for_both(to + kABytes + half * kBLoadBytes, b, full + 8 * stage, step * kBlockK,
                      place.column + static_cast<int>(half) * kBLoad, 0);
      } else {
#pragma unroll
        for (int part = 0; part < CLUSTER; ++part) {
          load(to + kABytes + part * kBLoadBytes, b, full + 8 * stage, step * kBlockK,
               place.column + part * kBLoad, 0);
        }
      }
      if (++stage == STAGES) {
        stage = 0;
        phase ^= 1;
      }
    }
  }
}

#if !RANKS
/// The work of the warp that stores C for one consumer; one thread of it does all.
__device__ __forceinline__ void deliver(const Outputs& outputs, const Order& order,
                                        const Peers& peers, int consumer, u32 slabs, u32 filled,
                                        u32 free, u32) {
  if (threadIdx.x % 32 != 0) return;
  u32 pass = 0;
  int segment = 0;
  int turn = 0;
  for (int tile = own_tile(order); tile < order.tiles; tile = next_tile(order, tile)) {
    if (!is_mine(turn++, consumer)) continue;
    while (tile >= order.segments[segment].end) ++segment;
    const Segment& part = order.segments[segment];
    Place first = first_slab(place_in(order, peers, tile), consumer);
    first.row -= part.first_row;
    first.column -= part.first_column;
    for (int slab = 0; slab < kSlabsOfConsumer; ++slab) {
      const u32 buffer = buffer_of(pass, slab);
      barrier_wait(filled + 8 * buffer, uses_before(pass, slab) & 1);
      if (stores(order, slab)) {
        const Place at = place_of_slab(first, slab);
        store(&outputs.c[segment], slabs + buffer * kSlabBytes, at.column, at.row, at.block);
      }
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      const int read = slab - (BUFFERS - 1);  // the last one that no store reads any more, soon
      if (read >= 0) {
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(BUFFERS - 1) : "memory");
        barrier_arrive(free + 8 * buffer_of(pass, read));
      }
    }
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

/// The work of a consumer. `turns`: where consumers take turns, a barrier for each; a consumer waits
/// on its own until the other one has found all its stages full. (It could not tell a stage that
/// was filled for it from one that was filled two rounds before.)
__device__ __forceinline__ void consume(const Order& order, const Peers& peers, int consumer,
                                        u32 stages, u32 slabs, u32 full, u32 empty, u32 filled,
                                        u32 free, u32 turns, u32 task) {
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
  int turn = 0;
  u32 turn_phase = consumer ^ 1;  // the first consumer begins at once
  for (int tile = own_tile(order); has_step(order, tile); tile = next_tile(order, tile)) {
    if (!is_mine(turn++, consumer)) {  // skips the stages of the other consumer's tile
      stage += end - begin;
      phase ^= stage / STAGES & 1;
      stage %= STAGES;
      continue;
    }
    if (IN_TURN) {
      barrier_wait(turns + 8 * consumer, turn_phase);
      turn_phase ^= 1;
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
    if (tile >= order.tiles) break;
    if (shares_tiles(order)) exchange_halves(sums, consumer, stages);

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
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(todo) : "r"(task) : "memory");
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
}

#if CLUSTER == 2
#define IN_CLUSTERS __cluster_dims__(2, 1, 1)
#else
#define IN_CLUSTERS
#endif

extern "C" __global__ void IN_CLUSTERS __launch_bounds__(128 * (CONSUMERS + 1), 1)
    hopper_gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                const __grid_constant__ Outputs outputs, const __grid_constant__ Order order
#if WAITS || RANKS
                ,
                const __grid_constant__ Peers peers
#endif
#if WAITS
                ,
                const __grid_constant__ TensorMap own_a
#endif
    ) {
#if !WAITS
  const TensorMap& own_a = a;
#if !RANKS
  const Peers peers{};
#endif
#endif
  extern __shared__ char memory[];
  __shared__ alignas(8) u64 barriers[2 * STAGES + 2 * BUFFERS * CONSUMERS + 2];
  __shared__ u32 tasks[CONSUMERS];  // of a kernel that stores at ranks
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
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  // A CTA may load for the other one only after the other's barriers are initialised ...
  if (CLUSTER == 2) cluster_barrier();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp < 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kLoaderRegisters));
    if (warp == 0) produce(&a, &own_a, &b, order, peers, stages, full, empty);
    if (shares_tiles(order)) {  // the meetings of exchange_halves
      __syncwarp();
      cluster_barrier();
      cluster_barrier();
    }
#if RANKS
    if (blockIdx.x == 0 && warp == 1) open(peers);
#endif
    if (warp >= 1 && warp <= CONSUMERS) {
      const int consumer = warp - 1;
      const u32 first = BUFFERS * consumer;
      deliver(outputs, order, peers, consumer, slabs + first * kSlabBytes, filled + 8 * first,
              free + 8 * first, shared_address(tasks + consumer));
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kConsumerRegisters));
    const int consumer = warp / 4 - 1;
    const u32 first = BUFFERS * consumer;
    if (IN_TURN && shares_tiles(order) && consumer == 1) {  // there is one tile
      cluster_barrier();
      cluster_barrier();
    }
    consume(order, peers, consumer, stages, slabs + first * kSlabBytes, full, empty, filled + 8 * first,
            free + 8 * first, turns, shared_address(tasks + consumer));
  }
  // ... and may end only after the other one has released its last stage to it.
  if (CLUSTER == 2) {
    __syncwarp();
    cluster_barrier();
  }
}
