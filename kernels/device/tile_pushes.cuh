#pragma once
// Tiles of the GEMM on Hopper that push: the rows of A that a rank multiplies first are those that
// its peers wait for, and they pass through shared memory anyway. The warp that stores C for a
// consumer has nothing to do while the tile is multiplied; so it stores some of the steps at the
// peers. The scheduling warp counts the chunks of columns there: a count takes a microsecond, in
// which the other warp would release no stage.

#include "kernels/device/hopper_copies.cuh"

namespace overlaptune::kernels::device {

/// Stores every `pushers`-th step of a tile at all peers, and releases each step. It tells the
/// scheduling warp when a chunk of columns is there, and counts the last one itself. By one thread.
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
  int next = item.column / K::kBlockN;  // the next step to push
  bool pushed = false;                  // the step before: its store may still read the stage
  int chunk = 0;                        // chunks that were told of
  // The step at which it is told of.
  int tells_at = rows.chunk_steps < end ? rows.chunk_steps + kArrives : end;
  bool stored_behind = false;  // a step that lies behind that chunk has been stored
  const auto release = [&](int step) {
    barrier_arrive(stages.empty + 8 * ((before + step) % K::kStages));
  };
#pragma unroll 1
  for (int step = 0; step < end; ++step) {
    const int at = before + step;
    barrier_wait(stages.full + 8 * (at % K::kStages), at / K::kStages & 1);
    if (pushed) {
      wait_for_reads<0>();
      release(step - 1);
    }
    pushed = step == next;
    if (pushed) {
      for (int peer = 0; peer < rows.peers; ++peer) {
        store(&rows.gathered[peer], stages.memory + at % K::kStages * K::kStageBytes,
              step * K::kBlockK, row, 0);
      }
      end_stores();
      stored_behind = step + kArrives >= tells_at;
      next += rows.pushers;
    } else {
      release(step);
    }
    if (step == tells_at) {
      if (stored_behind) {
        wait_for_stores<1>();  // the last one lies behind the chunk
      } else {
        wait_for_stores<0>();
      }
      tell_pushed(item, ++chunk);
      tells_at += rows.chunk_steps;
      stored_behind = false;
    }
  }
  wait_for_reads<0>();
  if (pushed) release(end - 1);
  wait_for_stores<0>();
  const int last = (end - 1) / rows.chunk_steps;
  if (chunk < last) tell_pushed(item, last);
  count_pushed(rows, last);
}

}  // namespace overlaptune::kernels::device
