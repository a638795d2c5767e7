#pragma once
// The consumers of the GEMM on Hopper: they multiply, and hand the sums over to the warps that
// store.
//
// Source: PTX ISA 8.x, "Asynchronous warpgroup level matrix instructions" (fragments).

#include "kernels/device/hopper_products.cuh"
#include "kernels/device/hopper_scales.cuh"
#include "kernels/device/into_c.cuh"
#include "strategies/peer_store/at_ranks.cuh"

namespace overlaptune::kernels::device {

/// Adds up the sums of a tile that two CTAs share; each has those of half of k. Each CTA writes the
/// sums of the subtiles that the other one stores into the other's ring, which is no longer loaded
/// into, and adds the sums that it receives. All threads of both CTAs have two barriers.
template <class K>
__device__ __forceinline__ void exchange_halves(float (&sums)[K::kParts][K::kAccumulators],
                                                int consumer, u32 ring) {
  constexpr int kQuads = K::kSubtile / 8;  // quads of sums in a subtile, for each thread
  constexpr int kQuadBytes = 128 * 16;
  constexpr int kPartBytes = K::kFirstSubtiles * kQuads * kQuadBytes;
  static_assert(K::kOfOneTile * K::kParts * kPartBytes <= K::kStages * K::kStageBytes,
                "more than the ring");
  const bool first = cluster_rank() == 0;
  const u32 mine = ring + consumer * K::kParts * kPartBytes + threadIdx.x % 128 * 16;
  const u32 theirs = at_other(mine);
  cluster_barrier();
#pragma unroll
  for (int part = 0; part < K::kParts; ++part) {
#pragma unroll
    for (int i = 0; i < K::kSubtiles * kQuads; ++i) {
      if ((i < K::kFirstSubtiles * kQuads) == first) continue;
      const float* sum = &sums[part][4 * i];
      store_sums(theirs + part * kPartBytes + i % (K::kFirstSubtiles * kQuads) * kQuadBytes, sum);
    }
  }
  cluster_barrier();
#pragma unroll
  for (int part = 0; part < K::kParts; ++part) {
#pragma unroll
    for (int i = 0; i < K::kSubtiles * kQuads; ++i) {
      if ((i < K::kFirstSubtiles * kQuads) != first) continue;
      float other[4];
      read_sums(mine + part * kPartBytes + i % (K::kFirstSubtiles * kQuads) * kQuadBytes, other);
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[part][4 * i + j] += other[j];
    }
  }
}

/// The 16 bytes of a subtile that a thread gives the address of: `write_subtile` stores four
/// matrices of 8 x 8 at a time, each lane the address of one row. They are the sums of 16 rows and
/// 16 columns of a wgmma: the upper rows of the first columns, the lower ones; the same of the next
/// columns.
struct SubtilePart {
  int row;
  int chunk;
};
template <class K>
__device__ __forceinline__ SubtilePart part_of(int thread) {
  const int warp = thread / 32;
  const int lane = thread % 32;
  const int lower = lane / 8 & 1;
  const int next = lane / 16;
  if (K::kSwapAb) return {8 * next + lane % 8, 2 * warp + lower};
  return {16 * warp + 8 * lower + lane % 8, next};
}

/// Writes the sums of a subtile as rows of C; with swap-AB, it transposes each matrix.
template <class K>
__device__ __forceinline__ void write_subtile(const float* sums, u32 subtile,
                                              const SubtilePart& part) {
#pragma unroll
  for (int pair = 0; pair < K::kSubtile / 16; ++pair) {
    const float* sum = sums + 8 * pair;
    const u32 at = subtile + (K::kSwapAb ? subtile_offset<K>(part.row + 16 * pair, part.chunk)
                                         : subtile_offset<K>(part.row, part.chunk + 2 * pair));
    store_matrices<K::kSwapAb>(
        at, packed<K::kResult>(sum[0], sum[1]), packed<K::kResult>(sum[2], sum[3]),
        packed<K::kResult>(sum[4], sum[5]), packed<K::kResult>(sum[6], sum[7]));
  }
}

/// The steps of a push, which consumers find in the ring as they find those of a tile. Of several
/// consumers that share items, the first one stores. Each part is counted when all of it is in the
/// peer's memory. Only thread 0 of a consumer calls this: nothing holds the others together here,
/// so one that fell behind would miss a phase of a barrier, and wait for ever.
template <class K, class Release>
__device__ __forceinline__ void push_steps(const Launch<K>& launch, const Item& item, int consumer,
                                           const Stages& stages, const Release& release) {
  const bool stores = K::kPingPong || consumer == 0;
  const int end = item.steps + item.slot;
  const auto wait_for_step = [&](int at) {
    barrier_wait(stages.full + 8 * (at % K::kStages), at / K::kStages & 1);
  };
  if (!stores) {
#pragma unroll 1
    for (int at = item.steps; at < end; ++at) {
      wait_for_step(at);
      release(at % K::kStages);
    }
    return;
  }
  // Steps that are stored while those of the part before arrive: each is one group of stores.
  constexpr int kUnderWay = 1;
  u32* before = nullptr;  // the counter of that part
  int at = item.steps;
#pragma unroll 1
  for (int part = 0; part < parts_of_push(launch.feed); ++part) {
    const Push push = push_of<K::kWaitsForChunks>(launch.feed, item.index, part);
#pragma unroll 1
    for (int step = 0; step < steps_of<K>(push); ++step, ++at) {
      wait_for_step(at);
      store_step<K>(push, launch.feed.row_vectors, step,
                    stages.memory + at % K::kStages * K::kStageBytes);
      if (at > item.steps) release((at - 1) % K::kStages);
      if (K::kWaitsForChunks && before != nullptr && step + 1 == kUnderWay) {
        wait_for_stores<kUnderWay>();
        increment(before, 1);
        before = nullptr;
      }
    }
    if (K::kWaitsForChunks && before != nullptr) {
      wait_for_stores<0>();
      increment(before, 1);
    }
    before = push.counter;
  }
  if (K::kPingPong) barrier_arrive(stages.turns + 8 * (consumer ^ 1));
  wait_for_reads<0>();
  if (at > item.steps) release((at - 1) % K::kStages);
  wait_for_stores<0>();  // in the peer's memory
  increment(before, 1);
}

/// The work of a consumer.
template <class K>
__device__ __forceinline__ void consume(const Launch<K>& launch, int consumer,
                                        const Items<K>& items, const Stages& stages,
                                        const Buffers& buffers) {
  const Order& order = launch.order;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const int first_row = first_of<K>(consumer);
  const SubtilePart subtile_part = part_of<K>(thread);
  int stage = 0;
  u32 phase = 0;
  u32 pass = 0;  // of the consumer's subtiles through the staging buffers
  // Where tiles push: whether the storing warp, which else releases each step as well, has none.
  [[maybe_unused]] bool releases_for_storing_warp = false;
  const auto release = [&](int which) {
    if (thread != 0) return;
    barrier_arrive(stages.empty + 8 * which);
    if (K::kCluster == 2) barrier_arrive_at_other(stages.empty + 8 * which);
    if (K::Feed::kTilesPush && releases_for_storing_warp) barrier_arrive(stages.empty + 8 * which);
  };
  const int begin = first_step<K>(order);
  const int end = last_step<K>(order);
  bool added_up = !splits_k<K>(order);
  for (u32 number = K::kPingPong ? consumer : 0;; number += kStride<K>) {
    const Item item = taken(items, number);
    if (item.what == kEnd) break;
    if constexpr (K::Feed::kWaits) {
      if (item.what == kPush) {
        if (thread == 0) {
          if (K::kPingPong) wait_for_turn<K>(stages, consumer, number);
          if (launch.run.has_barrier != 0) barrier_wait(shared_address(&items.passed_barrier), 0);
          push_steps(launch, item, consumer, stages, release);
        }
        consumer_barrier(consumer);  // all have read the item
        if (thread == 0) give_back_half(items, number);
        continue;
      }
      stage = item.steps % K::kStages;
      phase = item.steps / K::kStages & 1;
      releases_for_storing_warp = warp_pushes<K>(consumer) && !tile_pushes<K>(launch.feed, item);
    }
    ScalesOfTile<K> scales;
    scales.before_turn(launch, item, consumer);
    if (K::kPingPong) {
      // The stages of the other consumer's tile are skipped.
      stage = item.steps % K::kStages;
      phase = item.steps / K::kStages & 1;
      wait_for_turn<K>(stages, consumer, number);
    }
    scales.before_products(launch, item, consumer, stages.full + 8 * stage, phase);
    float sums[K::kParts][K::kAccumulators];
    barrier_wait(stages.full + 8 * stage, phase);
    scales.under_products(launch, item, consumer);
    const auto next_step = [&] {
      barrier_wait(stages.full + 8 * stage, phase);
      const u32 from = stages.memory + stage * K::kStageBytes;
      const StepOperands operands{from + (K::kSwapAb ? K::kABytes : 0) + first_row * K::kRowBytes,
                                  descriptor(from + (K::kSwapAb ? 0 : K::kABytes))};
      if (++stage == K::kStages) {
        stage = 0;
        phase ^= 1;
      }
      return operands;
    };
    int read = stage;  // the first stage that is not released
    const auto release_next = [&] {
      release(read);
      read = read + 1 == K::kStages ? 0 : read + 1;
    };
    const auto pass_on_turn = [&] {
      if (K::kPingPong && thread == 0) barrier_arrive(stages.turns + 8 * (consumer ^ 1));
    };
    if constexpr (K::kExact) {
      ExactProducts<K>::multiply(sums, end - begin, next_step, release_next);
      pass_on_turn();
    } else {
      for (int step = begin; step < end; ++step) {
        multiply_step<K>(sums, next_step(), step == begin);
        // The stage before has been read once this step's group of wgmma is the only one under way.
        wait_for_wgmma<1>();
        if (step > begin) release_next();
      }
      pass_on_turn();
      wait_for_wgmma<0>();
#pragma unroll
      for (int part = 0; part < K::kParts; ++part) complete<K>(sums[part]);
      release_next();
    }
    if (item.what == kTwin) continue;
    if (splits_k<K>(order)) exchange_halves<K>(sums, consumer, stages.memory);
    added_up = true;
    scales.apply(sums, consumer);

    const auto wait_for_buffer = [&](int subtile) {
      const u32 buffer = buffer_of<K>(pass, subtile);
      // Without peers, all buffers are free at first.
      barrier_wait(buffers.free + 8 * buffer,
                   (uses_before<K>(pass, subtile) & 1) ^ (K::Epilogue::kAtRanks ? 0 : 1));
      return buffers.subtiles + buffer * K::kSubtileBytes;
    };
    const auto pass_on_buffer = [&](int subtile) {
      fence_shared();
      barrier_arrive(buffers.filled + 8 * buffer_of<K>(pass, subtile));
    };
    const auto sums_of = [&](int subtile) {
      return sums[subtile / K::kSubtiles] + subtile % K::kSubtiles * K::kSubtile / 2;
    };
    if constexpr (K::Epilogue::kAtRanks) {
      wait_for_buffer(0);
      // There since the first buffer of the tile was granted.
      const u32 todo = word_at(shared_address(items.tasks + consumer));
      if (todo == kFillForOwner) {
#pragma unroll
        for (int subtile = 0; subtile < K::kSubtilesOfConsumer; ++subtile) {
          const u32 to = wait_for_buffer(subtile);
          if (stores<K>(order, subtile)) write_fragments<K>(sums_of(subtile), to, thread);
          pass_on_buffer(subtile);
        }
        ++pass;
        continue;
      }
      if (todo == kAddAndFill) {
#pragma unroll 1
        for (int peer = 1; peer < K::Epilogue::kRanks; ++peer) {
#pragma unroll
          for (int subtile = 0; subtile < K::kSubtilesOfConsumer; ++subtile) {
            const u32 from = wait_for_buffer(subtile);
            if (stores<K>(order, subtile)) add_fragments<K>(sums_of(subtile), from, thread);
            pass_on_buffer(subtile);
          }
          ++pass;
        }
      }
    }
#pragma unroll
    for (int subtile = 0; subtile < K::kSubtilesOfConsumer; ++subtile) {
      const u32 to = wait_for_buffer(subtile);
      if (stores<K>(order, subtile)) write_subtile<K>(sums_of(subtile), to, subtile_part);
      pass_on_buffer(subtile);
    }
    ++pass;
  }
  if (!added_up) {  // the barriers of exchange_halves
    cluster_barrier();
    cluster_barrier();
  }
}

}  // namespace overlaptune::kernels::device
