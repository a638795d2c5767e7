#pragma once
// C = A * B^T on Hopper: A is rows x k, B is n x k, C is rows x n, all row-major, sums in fp32.
// Elements of C have 16 bits; those of A and B as many, or 8 with scales (hopper_scales.cuh). A
// tile whose rows are no multiple of 64 is computed as (B * A^T)^T.
//
// A persistent launch has one CTA on each SM. In its first warpgroup one warp finds out what comes
// next (hopper_schedule.cuh); one thread loads tiles of A and B by TMA into a ring of stages
// (hopper_copies.cuh), and one thread for each consumer stores C by TMA (into_c.cuh, at_ranks.cuh),
// or rows at the peers (tile_pushes.cuh).
// The consumers, the other warpgroups, multiply (hopper_consumer.cuh): all of them a part of each
// tile, or each a whole tile in turn, so that one stores while the other multiplies.
//
// The two CTAs of a cluster compute tiles that follow one another; where both tiles are in one
// column, or one row, they load B, or A, for both. A kernel that was not made for clusters may be
// launched in clusters of two: then two CTAs split k of a tile (split-K in a cluster); each
// multiplies half of k, and stores half of the columns.

#include "kernels/device/hopper_consumer.cuh"

namespace overlaptune::kernels::device {

/// Shared memory of a CTA, behind the items.
template <class K>
struct Memory {
  Stages stages;
  Buffers buffers;  ///< of the first consumer

  __device__ __forceinline__ Memory() {
    const u32 begin = (shared_address(dynamic_memory()) + 1023) / 1024 * 1024;
    const u32 full = shared_address(shared_object<Barriers<K>>().all);
    const u32 filled = full + 16 * K::kStages;
    buffers = {begin + K::kStages * K::kStageBytes, filled,
               filled + 8 * K::kBuffers * K::kConsumers};
    stages = {begin, full, full + 8 * K::kStages, buffers.free + 8 * K::kBuffers * K::kConsumers};
  }

  [[nodiscard]] __device__ __forceinline__ Buffers buffers_of(int consumer) const {
    const u32 before = K::kBuffers * consumer;
    return {buffers.subtiles + before * K::kSubtileBytes, buffers.filled + 8 * before,
            buffers.free + 8 * before};
  }

  /// By one thread.
  __device__ __forceinline__ void init_barriers() const {
    for (int i = 0; i < K::kStages; ++i) {
      barrier_init(stages.full + 8 * i, 1);
      barrier_init(stages.empty + 8 * i, K::kReleases);
    }
    for (int i = 0; i < K::kBuffers * K::kConsumers; ++i) {
      barrier_init(buffers.filled + 8 * i, 128);
      barrier_init(buffers.free + 8 * i, 1);
    }
    for (int i = 0; i < 2; ++i) barrier_init(stages.turns + 8 * i, 1);
  }
};

/// By one thread.
template <class K>
__device__ __forceinline__ void prefetch_maps(const Launch<K>& launch) {
  prefetch(&launch.a);
  if constexpr (K::Feed::kWaits) prefetch(&launch.feed.own_a);
  if constexpr (K::Feed::kTilesPush) {
    for (int peer = 0; peer < launch.feed.peers; ++peer) prefetch(&launch.feed.gathered[peer]);
  }
  prefetch(&launch.b);
  prefetch(&launch.epilogue.c[0]);
}

/// The work of a warp of the first warpgroup.
template <class K>
__device__ __forceinline__ void copy_tiles(const Launch<K>& launch, int warp, Schedule& schedule,
                                           Items<K>& items, const Memory<K>& memory) {
  const int consumer = warp - 1;  // for which it stores
  const bool stores_tiles = consumer >= 0 && consumer < K::kConsumers;
  if (warp == 0) {
    produce(launch, schedule, items, memory.stages);
    wait_for_launch_before();
  }
  if (kSchedules<K> && warp == kSchedulingWarp<K>) schedule_items(launch, items, schedule);
  if constexpr (K::kQueued) {
    if (stores_tiles) begin(launch.run, consumer, items);
  }
  if (splits_k<K>(launch.order)) {  // the barriers of exchange_halves
    __syncwarp();
    cluster_barrier();
    cluster_barrier();
  }
  if (stores_tiles) {
    K::Epilogue::template deliver<K>(launch, consumer, items, memory.stages,
                                     memory.buffers_of(consumer));
  }
}

/// The work of a CTA.
template <class K>
__device__ __forceinline__ void compute_tiles(const Launch<K>& launch) {
  Schedule schedule;
  const bool schedules = threadIdx.x == 32 * kSchedulingWarp<K>;
  [[maybe_unused]] u32 arrived = 1;  // in the second CTA of a cluster: not the first one
  if constexpr (K::kQueued) {
    // Under what follows: the answer takes as long.
    if (schedules && takes_items<K>(launch.order)) arrived = arrive(launch.run);
  }
  Items<K>& items = shared_object<Items<K>>();
  const Memory<K> memory;
  if (threadIdx.x == 0) {
    prefetch_maps(launch);
    memory.init_barriers();
    init(items);
    fence_barriers();
  }
  if constexpr (K::kQueued) {
    if (schedules) items.arrived = arrived;
  }
  __syncthreads();
  // A CTA may load for the other one, or hand it an item, only after the other's barriers are
  // initialised ...
  const bool in_pairs = K::kCluster == 2 || (K::kQueued && splits_k<K>(launch.order));
  if (in_pairs) cluster_barrier();
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp < 4) {
    give_registers<K::kLoaderRegisters>();
    copy_tiles(launch, warp, schedule, items, memory);
  } else {
    take_registers<K::kConsumerRegisters>();
    const int consumer = warp / 4 - 1;
    consume(launch, consumer, items, memory.stages, memory.buffers_of(consumer));
  }
  // ... and may end only after the other one has released its last stage to it.
  if (K::kCluster == 2) {
    __syncwarp();
    cluster_barrier();
  }
}

template <HopperTile kTile>
constexpr int kThreadsOf = 128 * (kTile.consumers + 1);

// The kernel, without and with clusters.

template <HopperTile kTile, class Feed, class Epilogue>
requires(kTile.cluster == 1) __global__ void __launch_bounds__(kThreadsOf<kTile>, 1)
    hopper_gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                const __grid_constant__ Order order,
                const __grid_constant__ typename Feed::Params feed,
                const __grid_constant__ typename Epilogue::Params epilogue,
                const __grid_constant__ RunFor<Feed, Epilogue> run,
                const __grid_constant__ ScalesFor<kTile> scales) {
  compute_tiles(
      Launch<HopperGemm<kTile, Feed, Epilogue>>{a, b, order, feed, epilogue, run, scales});
}

template <HopperTile kTile, class Feed, class Epilogue>
requires(kTile.cluster == 2) __global__ void __cluster_dims__(2, 1, 1)
    __launch_bounds__(kThreadsOf<kTile>, 1)
        hopper_gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                    const __grid_constant__ Order order,
                    const __grid_constant__ typename Feed::Params feed,
                    const __grid_constant__ typename Epilogue::Params epilogue,
                    const __grid_constant__ RunFor<Feed, Epilogue> run,
                    const __grid_constant__ ScalesFor<kTile> scales) {
  compute_tiles(
      Launch<HopperGemm<kTile, Feed, Epilogue>>{a, b, order, feed, epilogue, run, scales});
}

}  // namespace overlaptune::kernels::device
