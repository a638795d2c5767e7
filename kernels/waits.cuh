#pragma once
// Waits and the queue (kernels/device/waits.cuh) for kernels that nvcc compiles, and the launch
// that begins each of them.

#include <cuda_runtime.h>

#include "kernels/device/waits.cuh"
#include "kernels/launch.cuh"
#include "kernels/rank_barrier.hpp"

namespace overlaptune::kernels::device {

/// Works off the items of the queue, one after the other, by all threads of a CTA. `work` is called
/// with each position, and may meet at barriers. Returns whether this CTA took the end of the
/// queue.
template <class Work>
__device__ bool each_item(const Run& run, const Work& work) {
  constexpr int kLast = 0x7fffffff;
  __shared__ int taken[2];
  Claim ahead{};
  if (threadIdx.x == 0) ahead = claim(run);
  for (u32 number = 0;; ++number) {
    if (threadIdx.x == 0) {
      int position = position_of(run, ahead);
      if (position < run.items) {
        ahead = claim(run);
      } else {
        tell_left_out(run, ahead.dead);
        if (ends_queue(run, position)) position = kLast;
      }
      taken[number % 2] = position;
    }
    // Between two uses of a word there is another barrier, of the item between them.
    __syncthreads();
    const int position = taken[number % 2];
    if (position >= run.items) return position == kLast;
    work(position);
  }
}

/// The end of an exchange, by all threads of a CTA: tells the peers that the CTA has nothing to do
/// with their memory any more. The CTA that took the end of the queue waits until theirs have said
/// so: then their work here has ended.
__device__ inline void part(const Run& run, bool last) {
  __syncthreads();
  const int peer = static_cast<int>(threadIdx.x);
  if (peer < run.ranks && peer != run.rank) increment(&run.flags[peer]->done, 1);
  if (!last || peer != 0) return;
  wait_for(run, &own_flags(run)->done, static_cast<u32>((run.ranks - 1) * run.clusters),
           Awaited::done, 0);
}

}  // namespace overlaptune::kernels::device
