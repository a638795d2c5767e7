#pragma once
// Tiles of the GEMM on Hopper that push: the rows of A that a rank multiplies first are those that
// its peers wait for, and they pass through shared memory anyway. The warp that stores C for a
// consumer has nothing to do while the tile is multiplied; so it stores some of the steps at the
// peers. The scheduling warp counts the chunks of columns there: a count takes a microsecond, in
// which the other warp would release no stage.

#include "kernels/device/hopper_copies.cuh"

namespace overlaptune::kernels::device {

/// Waits until the stores of all groups but the last ones are at the peers. It leaves out four
/// groups at most.
__device__ __forceinline__ void wait_for_stores_but(int groups) {
  switch (groups) {
    case 0:
      return wait_for_stores<0>();
    case 1:
      return wait_for_stores<1>();
    case 2:
      return wait_for_stores<2>();
    case 3:
      return wait_for_stores<3>();
    default:
      return wait_for_stores<4>();
  }
}

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
  int chunk = 0;                        // chunks that were told of
  // The step at which it is told of.
  int tells_at = rows.chunk_steps < end ? rows.chunk_steps + kArrives : end;
  int behind = 0;  // steps that were stored and lie behind that chunk
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
    if (pushes) {
      end_stores();
      behind += step + kArrives >= tells_at ? 1 : 0;
    } else {
      release(step);
    }
    if (pushed) {
      if (pushes) {
        wait_for_reads<1>();  // this step's may go on
      } else {
        wait_for_reads<0>();
      }
      release(step - 1);
    }
    pushed = pushes;
    if (step == tells_at) {
      wait_for_stores_but(behind);
      tell_pushed(item, ++chunk);
      tells_at += rows.chunk_steps;
      behind = 0;
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
