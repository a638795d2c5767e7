#pragma once
// Permits: how many storing warps of a GPU send at once.
//
// While an SM stores to another GPU, what it loads comes behind these stores, and they leave it no
// faster than the links take them. If all SMs send a tile when they have multiplied one, each has a
// small part of the links, and none multiplies until all tiles have left. So few SMs send at once,
// just enough to fill the links. The others go on with their next tiles, and send in turn
// (docs/results/kernels.md, "Permits").
//
// Whoever has a permit waits for its own SM and for the links, not for a peer: each permit comes
// back.

#include "kernels/device/waits.cuh"

namespace overlaptune::kernels::device {

/// Waits for one of `permits` permits of this GPU; they are given in the order of the calls. A wait
/// that the world has ended counts as one that has got its permit: it returns that, too.
__device__ __forceinline__ void take_permit(const Run& run, u32 permits) {
  RankFlags* own = own_flags(run);
  const u32 before = atomicAdd(&own->permits_taken, 1);
  wait_for(run, &own->permits_returned, before + 1 - permits, Awaited::permit, 0);
}

__device__ __forceinline__ void return_permit(const Run& run) {
  atomicAdd(&own_flags(run)->permits_returned, 1);
}

}  // namespace overlaptune::kernels::device
