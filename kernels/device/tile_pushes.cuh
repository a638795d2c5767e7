#pragma once
// Tiles of the GEMM on Hopper that push: the rows of A that a rank multiplies first are those that
// its peers wait for, and they pass through shared memory anyway. The warp that stores C for a
// consumer has nothing to do while the tile is multiplied; so it stores some of the steps at the
// peers. The scheduling warp counts the chunks of columns there: a count takes a microsecond, in
// which the other warp would release no stage.

#include "kernels/device/hopper_copies.cuh"

namespace overlaptune::kernels::device {

/// Stores its part of a tile's steps at the peers, and releases each step. It tells the scheduling
/// warp when a chunk of columns is there, and counts the last one itself. By one thread.
///
/// The stores of a row panel are numbered `step * peers + peer`. The tile of column c has those
/// with the numbers c, c + pushers, c + 2 * pushers and so on. So where as many tiles push as there
/// are peers, no stage is read by more than one store.
template <class K>
__device__ __forceinline__ void push_tile(const Launch<K>& launch, Items<K>& items, u32 number,
                                          const Stages& stages) {
  // Steps that go by while a store arrives at the peers: it is not waited for before.
  constexpr int kArrives = 4;
  Item& item = items.items[number % kItems];
  const auto& rows = launch.feed;
  const int end = launch.order.k_steps;
  const int before = item.steps;
  const int row = item.row;
  int peer = item.column / K::kBlockN;  // of the next store, counted on from this step's first one
  bool pushed = false;                  // the step before: stores may still read the stage
  const auto release = [&](int step) {
    barrier_arrive(stages.empty + 8 * ((before + step) % K::kStages));
  };
#pragma unroll 1
  for (int step = 0; step < end; ++step) {
    const int at = before + step;
    barrier_wait(stages.full + 8 * (at % K::kStages), at / K::kStages & 1);
    const bool pushes = peer < rows.peers;
    for (; peer < rows.peers; peer += rows.pushers) {
      store(&rows.gathered[peer], stages.memory + at % K::kStages * K::kStageBytes,
            step * K::kBlockK, row, 0);
    }
    peer -= rows.peers;
    end_stores();  // a group for each step, also an empty one
    if (!pushes) release(step);
    if (pushed) {
      wait_for_reads<1>();  // this step's may go on
      release(step - 1);
    }
    pushed = pushes;
    if (const int chunks = told_of(item) + 1; step - kArrives == chunks * rows.chunk_steps) {
      wait_for_stores<kArrives + 1>();  // those lie behind the chunk
      tell_pushed(item, chunks);
    }
  }
  wait_for_reads<0>();
  if (pushed) release(end - 1);
  wait_for_stores<0>();
  const int last = (end - 1) / rows.chunk_steps;
  if (told_of(item) < last) tell_pushed(item, last);
  count_pushed(rows, last);
}

/// Pushes the rows of an item, if it is a tile that pushes and if the warp of this consumer does
/// so. This is done before the warp reads the item: it has no registers to keep it meanwhile.
template <class K>
__device__ __forceinline__ void push_item(const Launch<K>& launch, int consumer, Items<K>& items,
                                          u32 number, const Stages& stages) {
  wait_for_item(items, number);
  if (!warp_pushes<K>(consumer) || !tile_pushes<K>(launch.feed, items.items[number % kItems])) {
    return;
  }
  if (K::kPingPong) wait_for_turn<K>(stages, consumer, number);
  push_tile(launch, items, number, stages);
}

}  // namespace overlaptune::kernels::device
