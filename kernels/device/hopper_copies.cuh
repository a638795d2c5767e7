#pragma once
// The warp of the GEMM on Hopper that loads: tiles of A and B, and rows that the launch pushes,
// into the ring of stages. (Warps that store: into_c.cuh, at_ranks.cuh.)

#include "kernels/device/hopper_schedule.cuh"

namespace overlaptune::kernels::device {

/// Where the next step is loaded to. `before`: steps that were loaded before.
template <class K>
struct Ring {
  int stage;
  u32 phase;
  __device__ __forceinline__ explicit Ring(int before)
      : stage(before % K::kStages),
        phase((before / K::kStages & 1) ^ 1) {}  // the first waits are over at once
  __device__ __forceinline__ void step() {
    if (++stage < K::kStages) return;
    stage = 0;
    phase ^= 1;
  }
};

/// Shared memory of a CTA: its ring of stages, and their barriers. `turns`: where consumers take
/// turns, a barrier for each.
struct Stages {
  u32 memory;
  u32 full;
  u32 empty;
  u32 turns;
};

/// Waits until a consumer has its turn: the other one has found all its stages full. Earlier a
/// stage that was filled for it could not be told from one that was filled two rounds before. The
/// first consumer begins at once.
template <class K>
__device__ __forceinline__ void wait_for_turn(const Stages& stages, int consumer, u32 number) {
  barrier_wait(stages.turns + 8 * consumer, (consumer ^ 1 ^ own_number<K>(number)) & 1);
}

/// The place of a tile that is loaded, and the operand that it shares. Kernels of three consumers
/// in clusters have no registers for them: there they are read anew for each step.
template <class K>
class Placed {
 public:
  static constexpr bool kKeeps = kSchedules<K> || K::kCluster == 1;
  explicit __device__ __forceinline__ Placed(const volatile Item& item)
      : item_(item), place_(read(item)), shared_(item.shared) {}
  [[nodiscard]] __device__ __forceinline__ Place place() const {
    return kKeeps ? place_ : read(item_);
  }
  [[nodiscard]] __device__ __forceinline__ int shared() const {
    return kKeeps ? shared_ : item_.shared;
  }

 private:
  static __device__ __forceinline__ Place read(const volatile Item& item) {
    return {item.block, item.row, item.column};
  }
  const volatile Item& item_;
  Place place_;
  int shared_;
};

/// Loads steps of a tile, up to `end` (exclusive), and does nothing else: the operands of a narrow
/// tile come no faster than this loop turns (docs/results/kernels.md, "The loading thread"). `a`:
/// the matrix that has the rows, as block number `block`.
template <class K, class SharedOf>
__device__ __forceinline__ void load_steps(const Launch<K>& launch, const TensorMap& a, int block,
                                           const Placed<K>& placed, const SharedOf& shared_of,
                                           const Stages& stages, Ring<K>& ring, int& step,
                                           int end) {
#pragma unroll 1
  for (; step < end; ++step) {
    const Place place = placed.place();
    const int shared = shared_of();
    // Waits until the stage is empty in both CTAs: the consumers of each release it to both.
    barrier_wait(stages.empty + 8 * ring.stage, ring.phase);
    const u32 filled = stages.full + 8 * ring.stage;
    barrier_expect(filled, K::kStageBytes);
    const u32 to = stages.memory + ring.stage * K::kStageBytes;
    if (shared != kA) {
      load(to, &a, filled, step * K::kBlockK, place.row, block);
    } else if (step % 2 == static_cast<int>(cluster_rank())) {
      load_for_both(to, &a, filled, step * K::kBlockK, place.row, block);
    }
    if (shared == kB) {
      const u32 half = cluster_rank();
      load_for_both(to + K::kABytes + half * K::kBLoadBytes, &launch.b, filled, step * K::kBlockK,
                    place.column + static_cast<int>(half) * K::kBLoad, 0);
    } else {
#pragma unroll
      for (int part = 0; part < K::kCluster; ++part) {
        load(to + K::kABytes + part * K::kBLoadBytes, &launch.b, filled, step * K::kBlockK,
             place.column + part * K::kBLoad, 0);
      }
    }
    ring.step();
  }
}

/// Picks the matrix that has the rows, and the loop for the operand that is shared.
template <class K>
__device__ __forceinline__ void load_part(const Launch<K>& launch, const Placed<K>& placed,
                                          const Stages& stages, Ring<K>& ring, int& step, int end) {
  const auto load_from = [&](const TensorMap& a, int block) {
    const auto load_sharing = [&](const auto& shared_of) {
      load_steps(launch, a, block, placed, shared_of, stages, ring, step, end);
    };
    if constexpr (!Placed<K>::kKeeps) {
      load_sharing([&] { return placed.shared(); });
    } else if (K::kCluster == 1 || placed.shared() == kNone) {
      load_sharing([] { return kNone; });
    } else if (placed.shared() == kA) {
      load_sharing([] { return kA; });
    } else {
      load_sharing([] { return kB; });
    }
  };
  const int block = placed.place().block;
  if constexpr (K::Feed::kWaits) {
    if (block == launch.feed.own_block) return load_from(launch.feed.own_a, 0);
  }
  load_from(launch.a, block);
}

/// Loads all steps of a tile, whose rows are of wave group `group` where they arrive. By one
/// thread. `ask` is called once, when only the last steps are left: a CTA that took its next item
/// earlier would keep it from others while it waits.
template <class K, class Ask>
__device__ __forceinline__ void load_tile(const Launch<K>& launch, const volatile Item& item,
                                          const Stages& stages, [[maybe_unused]] int group,
                                          const Ask& ask) {
  constexpr int kLastSteps = 4;  // under these and those in the ring, the answer comes
  const Placed<K> placed(item);
  Ring<K> ring(item.steps);
  int step = first_step<K>(launch.order);
  const int end = last_step<K>(launch.order);
  const int asks = end - kLastSteps > step ? end - kLastSteps : step;
  [[maybe_unused]] int columns = step;  // those before this step are there
  if constexpr (K::kWaitsForChunks) {
    if (columns == 0) columns = launch.feed.chunk_steps;
  }
  if (step >= end) ask();
#pragma unroll 1
  while (step < end) {
    int until = step < asks ? asks : end;
    if (step == asks) ask();
    if constexpr (K::kWaitsForChunks) {
      if (step == columns) {
        const int chunk = step / launch.feed.chunk_steps;
        if constexpr (kSchedules<K>) {
          wait_for_chunk(item, chunk);
        } else {
          K::Feed::wait_for_chunk(launch.run, launch.feed, group, chunk);
        }
        columns = (chunk + 1) * launch.feed.chunk_steps;
      }
      if (columns < until) until = columns;
    }
    load_part(launch, placed, stages, ring, step, until);
  }
}

/// Loads what an item pushes. By one thread.
template <class K>
__device__ __forceinline__ void load_push(const Launch<K>& launch, const volatile Item& item,
                                          const Stages& stages) {
  Ring<K> ring(item.steps);
#pragma unroll 1
  for (int part = 0; part < parts_of_push(launch.feed); ++part) {
    const Push push = push_of<K::kWaitsForChunks>(launch.feed, item.index, part);
#pragma unroll 1
    for (int step = 0; step < steps_of<K>(push); ++step) {
      barrier_wait(stages.empty + 8 * ring.stage, ring.phase);
      const u32 filled = stages.full + 8 * ring.stage;
      barrier_expect(filled, bytes_of_step<K>(push, step));
      const u32 to = stages.memory + ring.stage * K::kStageBytes;
      each_row<K>(push, launch.feed.row_vectors, step, [&](int vector, int at, u32 bytes) {
        load_bytes(to + at, reinterpret_cast<const char*>(push.from + vector), filled, bytes);
      });
      ring.step();
    }
  }
}

/// The part of thread 0 of a consumer in a step of a push that is in the ring: it starts the stores
/// at the peer. The step before has been read then.
template <class K>
__device__ __forceinline__ void store_step(const Push& push, int row_vectors, int step, u32 from) {
  each_row<K>(push, row_vectors, step, [&](int vector, int at, u32 bytes) {
    store_bytes(reinterpret_cast<char*>(push.to + vector), from + at, bytes);
  });
  end_stores();
  wait_for_reads<1>();
}

/// The work of the loading warp. Its first lane loads.
template <class K>
__device__ __forceinline__ void produce(const Launch<K>& launch, Schedule& schedule,
                                        Items<K>& items, const Stages& stages) {
  const bool loads = lane_of_warp() == 0;
  [[maybe_unused]] int arrived = -1;  // the last group whose rows are there
  for (u32 number = 0;; ++number) {
    if (!kSchedules<K> && !hand_over(launch, items, number, schedule)) return;
    if (kSchedules<K> && !loads) return;
    const volatile Item& item = items.items[number % kItems];
    if (loads) wait_for_item(items, number);
    if (kSchedules<K> && item.what == kEnd) return;
    if constexpr (K::Feed::kWaits) {
      if (loads && item.what != kPush) {
        if (launch.run.has_barrier != 0 && item.block != launch.feed.own_block) {
          // Until then the counters may be the last run's.
          barrier_wait(shared_address(&items.passed_barrier), 0);
        }
        K::Feed::wait(launch.run, launch.feed, computed(launch.order, item.index), arrived);
      }
    }
    if (!loads) continue;
    const auto ask = [&] {
      if (K::kQueued && kSchedules<K>) barrier_arrive(shared_address(&items.asked));
    };
    if constexpr (K::Feed::kWaits) {
      if (item.what == kPush) {
        ask();
        load_push<K>(launch, item, stages);
        continue;
      }
    }
    load_tile(launch, item, stages, arrived, ask);
  }
}

/// By each storing warp, before it stores or lets its consumer push: has the barrier of the ranks,
/// if no gate has.
template <class K>
__device__ __forceinline__ void begin(const Run& run, int consumer, const Items<K>& items) {
  if (run.has_barrier == 0) return;
  if (consumer == 0 && items.arrived == 0) begin_epoch(run);
  rank_barrier(run, gridDim.x * K::kConsumers);
  fence_copies();  // bulk copies store there
  if constexpr (K::Feed::kWaits) {
    if (consumer == 0 && lane_of_warp() == 0) barrier_arrive(shared_address(&items.passed_barrier));
  }
}

/// The staging buffers of a consumer and their barriers, in shared memory.
struct Buffers {
  u32 subtiles;
  u32 filled;
  u32 free;
};

}  // namespace overlaptune::kernels::device
