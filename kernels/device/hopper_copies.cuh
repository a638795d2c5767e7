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

/// Shared memory of a CTA: its ring of stages, and their barriers.
struct Stages {
  u32 memory;
  u32 full;
  u32 empty;
};

/// The rows of A of a block: in the matrix of all, or this rank's own.
struct RowsOfBlock {
  const TensorMap* a;
  int block;
};
template <class K>
__device__ __forceinline__ RowsOfBlock rows_of(const Launch<K>& launch, int block) {
  if constexpr (K::Feed::kWaits) {
    const bool is_own = block == launch.feed.own_block;
    return {is_own ? &launch.feed.own_a : &launch.a, is_own ? 0 : block};
  } else {
    return {&launch.a, block};
  }
}

/// Loads all steps of a tile, whose rows are of wave group `group` where they arrive. By one
/// thread. `ask` is called once, when only the last steps are left and no wait: a CTA that took its
/// next item earlier would keep it from others while it waits.
template <class K, class Ask>
__device__ __forceinline__ void load_tile(const Launch<K>& launch, const volatile Item& item,
                                          const Stages& stages, [[maybe_unused]] int group,
                                          const Ask& ask) {
  constexpr int kLastSteps = 4;  // under these and those in the ring, the answer comes
  const Order& order = launch.order;
  const TensorMap* const b = &launch.b;
  const int end = last_step<K>(order);
  int asks = end - kLastSteps;
  if (asks < first_step<K>(order)) asks = first_step<K>(order);
  if constexpr (K::kWaitsForChunks) {
    const int last_wait = (end - 1) / launch.feed.chunk_steps * launch.feed.chunk_steps;
    if (asks < last_wait) asks = last_wait;
  }
  if (asks >= end) ask();
  Ring<K> ring(item.steps);
  Place place;
  int shared;
  const auto read = [&] {
    place = {item.block, item.row, item.column};
    shared = item.shared;
  };
  read();
  [[maybe_unused]] int columns = first_step<K>(order);  // those before this step are there
  if constexpr (K::kWaitsForChunks) {
    if (columns == 0) columns = launch.feed.chunk_steps;
  }
#pragma unroll 1
  for (int step = first_step<K>(order); step < end; ++step) {
    if constexpr (K::kWaitsForChunks) {
      if (step == columns) {
        columns = K::Feed::wait_for_columns(launch.run, launch.feed, group, step);
      }
    }
    if (step == asks) ask();
    if (!kSchedules<K>) read();  // so that no register keeps it
    // Waits until the stage is empty in both CTAs: the consumers of each release it to both.
    barrier_wait(stages.empty + 8 * ring.stage, ring.phase);
    const u32 filled = stages.full + 8 * ring.stage;
    barrier_expect(filled, K::kStageBytes);
    const u32 to = stages.memory + ring.stage * K::kStageBytes;
    const auto [a, block] = rows_of(launch, place.block);
    if (shared != kA) {
      load(to, a, filled, step * K::kBlockK, place.row, block);
    } else if (step % 2 == static_cast<int>(cluster_rank())) {
      load_for_both(to, a, filled, step * K::kBlockK, place.row, block);
    }
    if (shared == kB) {
      const u32 half = cluster_rank();
      load_for_both(to + K::kABytes + half * K::kBLoadBytes, b, filled, step * K::kBlockK,
                    place.column + static_cast<int>(half) * K::kBLoad, 0);
    } else {
#pragma unroll
      for (int part = 0; part < K::kCluster; ++part) {
        load(to + K::kABytes + part * K::kBLoadBytes, b, filled, step * K::kBlockK,
             place.column + part * K::kBLoad, 0);
      }
    }
    ring.step();
  }
}

/// By one thread.
template <class K>
__device__ __forceinline__ void load_push(const volatile Push& push, int before, int steps,
                                          const Stages& stages) {
  Ring<K> ring(before);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    barrier_wait(stages.empty + 8 * ring.stage, ring.phase);
    const u32 filled = stages.full + 8 * ring.stage;
    barrier_expect(filled, 16u * static_cast<u32>(vectors_of_step<K>(push, step)));
    each_line<K>(push, step, [&](int distance, u32 offset, u32 bytes) {
      load_bytes(stages.memory + ring.stage * K::kStageBytes + offset,
                 reinterpret_cast<const char*>(push.from + distance), filled, bytes);
    });
    ring.step();
  }
}

/// The part of thread 0 of a consumer in a step of a push that is in the ring: it starts the store
/// at the peer. The step before has been read then.
template <class K>
__device__ __forceinline__ void store_step(const volatile Push& push, int step, u32 from) {
  each_line<K>(push, step, [&](int distance, u32 offset, u32 bytes) {
    store_bytes(reinterpret_cast<char*>(push.to + distance), from + offset, bytes);
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
        load_push<K>(items.pushes[number % kItems], item.steps, item.slot, stages);
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
