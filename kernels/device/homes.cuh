#pragma once
// How the clusters of a GEMM on Hopper share out the queue of waits.cuh.
//
// Tiles next to each other share operands, and it matters which SMs compute them: SMs of a pair
// seem to share their way to the L2 cache. So a cluster begins with its *home*, the position with
// its own number, and goes on by equal steps where it may: tiles that are computed at
// once then lie as the launch laid the clusters out. In other orders launches took up to 1.5 times
// as long (docs/results/kernels.md, "Homes").
//
// Not every cluster may have an SM. The first one to need a second item *closes* the homes: those
// of clusters that have not arrived go to whoever asks, in the order of positions, before anything
// else. Only the first `Run::homes` positions are homes, which wait for nothing: so what a cluster
// begins with ends, whoever has arrived. A cluster with a higher number is one that asks, too. (To
// wait some microseconds for late clusters cost more than it gained.)
// docs/kernel-notes.md has the proof, "Progress".

#include "kernels/device/waits.cuh"

namespace overlaptune::kernels::device {

/// The lower half of `RankFlags::arrived` counts clusters; the upper half is 0 as long as the homes
/// are open, then one more than the clusters that had arrived.
constexpr u32 kArrivals = 0xffff;
__device__ __forceinline__ bool are_closed(u32 arrived) {
  return arrived > kArrivals;
}

/// Whether all clusters have arrived while the homes were open. It stays so.
__device__ __forceinline__ bool all_there(const Run& run, u32 arrived) {
  return arrived == static_cast<u32>(run.clusters);
}

/// The clusters that had arrived when the homes were closed. Closes them, unless all are there.
__device__ __forceinline__ int close_homes(const Run& run, u32 arrived) {
  while (!are_closed(arrived) && !all_there(run, arrived)) {
    const u32 closed = arrived | (arrived + 1) << 16;
    const u32 before = atomicCAS(&own_flags(run)->arrived, arrived, closed);
    arrived = before == arrived ? closed : before;
  }
  return are_closed(arrived) ? static_cast<int>(arrived >> 16) - 1 : run.clusters;
}

/// The cluster's first instruction. The answer takes most of a microsecond, and is waited for where
/// it is first looked at.
__device__ __forceinline__ u32 arrive(const Run& run) {
  return atomicAdd(&own_flags(run)->arrived, 1);
}

/// The position with a ticket: a home of nobody, or one behind the homes. `there`: clusters that
/// had arrived when the homes were closed.
__device__ __forceinline__ int position_with(const Run& run, int there, u32 ticket) {
  const u32* here = own_flags(run)->here;
  // Those that had arrived say so soon.
  int owners;
  do {
    owners = 0;
#pragma unroll 1
    for (int i = 0; i < RankFlags::kHereFlags; ++i) owners += __popc(seen(here + i));
  } while (owners < there);
  const int homes = run.homes < run.clusters ? run.homes : run.clusters;
  int left = static_cast<int>(ticket);
#pragma unroll 1
  for (int first = 0; first < homes; first += 32) {
    u32 free = ~seen(here + first / 32);
    if (homes - first < 32) free &= (1u << (homes - first)) - 1;
    const int count = __popc(free);
    if (left < count) {
      for (; left > 0; --left) free &= free - 1;
      return first + __ffs(static_cast<int>(free)) - 1;
    }
    left -= count;
  }
  return homes + left;
}

/// The position of the next item. `Items`: what the thread that takes them has in shared memory
/// (`Taking` in hopper_items.cuh). `step`: the position behind another one for a cluster that goes
/// on by equal steps.
template <class Items, class Step>
__device__ __forceinline__ int next_position(const Run& run, Items& items, const Step& step) {
  RankFlags* own = own_flags(run);
  const u32 dead = seen(&own->dead);
  int there = items.there;
  if (there < 0) {
    items.there = there = close_homes(run, seen(&own->arrived));
    if (there == run.clusters) items.behind = there;
  }
  int position;
  if (run.deals != 0 && there == run.clusters) {
    position = step(items.position);
  } else {
    const int ticket = static_cast<int>(atomicAdd(&own->claims, 1));
    position = items.behind < 0 ? position_with(run, there, ticket) : items.behind + ticket;
    if (position >= run.homes) items.behind = position - ticket;
  }
  if (dead == 0) return position;
  items.left_out = 1;
  return run.items;
}

/// The position of the first item. `start`: that of a cluster, if all are there and go on by steps;
/// of one that has a home, its number. A cluster that has none looks `looks` times whether all have
/// come before it closes the homes.
template <class Items, class Start, class Step>
__device__ __forceinline__ int first_position(const Run& run, int cluster, Items& items, int looks,
                                              const Start& start, const Step& step) {
  RankFlags* own = own_flags(run);
  if (!are_closed(items.arrived)) {
    atomicOr(&own->here[cluster / 32], 1u << cluster % 32);
    if (cluster < run.homes) return cluster;
    u32 arrived = items.arrived + 1;
#pragma unroll 1
    for (; looks > 0 && !are_closed(arrived) && !all_there(run, arrived); --looks) {
      arrived = seen(&own->arrived);
    }
    if (close_homes(run, arrived) == run.clusters) {
      return run.deals != 0 ? start(cluster) : cluster;
    }
  }
  return next_position(run, items, step);
}

/// The end of a cluster's work. The last cluster resets the queue for the next launch: nobody asks
/// any more. Returns whether this is the last one.
template <class Items>
__device__ __forceinline__ bool leave(const Run& run, const Items& items) {
  RankFlags* own = own_flags(run);
  tell_left_out(run, items.left_out);
  __threadfence();  // what this cluster has written here comes before the reset
  if (atomicAdd(&own->left, 1) + 1 < static_cast<u32>(run.clusters)) return false;
#pragma unroll 1
  for (int i = 0; i < RankFlags::kHereFlags; ++i) own->here[i] = 0;
  own->arrived = 0;
  own->claims = 0;
  own->left = 0;
  return true;
}

}  // namespace overlaptune::kernels::device
