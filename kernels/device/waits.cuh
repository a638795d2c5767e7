#pragma once
// Waits for other ranks, and the queue from which the CTAs of a launch that waits take their work.
//
// The work of a launch is a sequence of *items*. Each waits only for items at smaller positions of
// the same sequence on other ranks, or at its own one for an item that waits for nothing. A cluster
// takes the next item when it needs one, and works off what it has taken in that order. So all
// ranks get to their ends if each has room for one cluster: docs/kernel-notes.md, "Progress".

#include "kernels/device/flags.cuh"
#include "kernels/device/ptx/common.cuh"

namespace overlaptune::kernels::device {

__device__ __forceinline__ RankFlags* own_flags(const Run& run) {
  return run.flags[run.rank];
}

/// Tells the host, once, which wait ended, and the peers that this rank's waits end.
__device__ __forceinline__ void give_up(const Run& run, Awaited what, u32 index, u32 waited) {
  constexpr u32 kToldHost = 2;
  const u32 before = atomicMax(&own_flags(run)->dead, kToldHost);
  if (before == kToldHost) return;
  volatile WaitControl* control = run.control;
  if (control->ended == 0) {
    control->plan = run.plan;
    // A rank that differs is seen here, too, whoever saw it first.
    const bool told = before != 0 && what != Awaited::differs;
    control->what = static_cast<u32>(told ? Awaited::told : what);
    control->index = index;
    control->waited = waited;
    publish(&run.control->ended, 1);
  }
#pragma unroll 1
  for (int rank = 0; rank < run.ranks; ++rank) {
    if (rank != run.rank) raise(&run.flags[rank]->dead, 1);
  }
}

/// The times of a wait, in units of 2^20 ns; 0: none.
struct Waiting {
  u32 since = 0;
  u32 asked = 0;  // when the limit was looked at
};

/// Whether a wait has to end. One thread of the GPU looks at host memory in each unit of time, for
/// all: hundreds that look there at once hold up what the peers store by up to 0.2 ms.
__device__ __forceinline__ bool is_over(const Run& run, Waiting& times, Awaited what, u32 index) {
  RankFlags* own = own_flags(run);
  const u32 now = static_cast<u32>(nanoseconds() >> 20);
  if (times.since == 0) times = {now, now};
  const u32 waited = now - times.since;
  bool over = seen(&own->dead) != 0;
  if (!over && now != times.asked) {
    times.asked = now;
    if (exchanged(&own->looked, now) != now) {
      publish(&own->limit, seen(&run.control->limit));
      over = seen(&run.control->ended) != 0;
    }
    const u32 limit = seen(&own->limit);
    over |= limit != 0 && waited >= limit;
  }
  if (over) give_up(run, what, index, waited);
  return over;
}

/// Waits until a word has reached `value`. False: the wait took too long, and nothing that follows
/// from the word is there. The clock is looked at now and then only: that takes about as long as a
/// look at the word.
__device__ __forceinline__ bool wait_for(const Run& run, const u32* word, u32 value, Awaited what,
                                         u32 index) {
  Waiting times;
  for (u32 looks = 1; !has_reached(word, value); ++looks) {
    if (looks % 16 == 0 && is_over(run, times, what, index)) return false;
  }
  return true;
}

/// Waits until a rank has reached a run; `value`: as it says then. False: it took too long, or the
/// rank has come to other work than this rank.
__device__ __forceinline__ bool wait_for_rank(const Run& run, const u64* word, u64 value,
                                              u32 rank) {
  Waiting times;
  u64 now = acquired(word);
  for (u32 looks = 1; static_cast<int>(static_cast<u32>(now) - static_cast<u32>(value)) < 0;
       ++looks) {
    if (looks % 16 == 0 && is_over(run, times, Awaited::ready, rank)) return false;
    now = acquired(word);
  }
  // A rank that is further had come to this run; then the next run finds out that it differs.
  const bool differs = static_cast<u32>(now) == static_cast<u32>(value) && now != value;
  if (differs) give_up(run, Awaited::differs, rank, 0);
  return !differs;
}

/// The word that tells a peer where this rank's part of the exchange lies, in the run `number`.
__device__ __forceinline__ u64 placed(const Run& run, u64 number) {
  return number << 32 | run.place;
}

/// A peer's place, once it has reached the run. This rank itself has 0: its addresses are whole.
__device__ __forceinline__ u32 place_at(const Run& run, int rank) {
  return run.place == kNoPlace ? 0 : static_cast<u32>(seen(&own_flags(run)->places[rank]));
}

__device__ __forceinline__ int part_of(u32 place) {
  return static_cast<int>(place >> 31);
}
__device__ __forceinline__ int units_of(u32 place) {
  return static_cast<int>(place & 0x7fffffff);
}

/// Forgets the place that a rank had in the run before: it has not come to this one, and has other
/// uses for that memory.
__device__ __forceinline__ void forget_place(const Run& run, int rank) {
  own_flags(run)->places[rank] = 0;
}

/// Waits for the place of a rank that has reached the run `number`: it is there, or comes at once.
/// False: it took too long.
__device__ __forceinline__ bool wait_for_place(const Run& run, int rank, u64 number) {
  const u64* word = &own_flags(run)->places[rank];
  Waiting times;
  const auto comes = [&] {
    return static_cast<int>(static_cast<u32>(seen(word) >> 32) - static_cast<u32>(number)) < 0;
  };
  for (u32 looks = 1; comes(); ++looks) {
    if (looks % 16 == 0 && is_over(run, times, Awaited::ready, static_cast<u32>(rank))) {
      return false;
    }
  }
  return true;
}

/// The begin of a run that no gate has begun, by one warp: what the last run counted is reset; then
/// the peers may write here.
__device__ __forceinline__ void begin_epoch(const Run& run) {
  RankFlags* own = own_flags(run);
  const int lane = lane_of_warp();
  for (int i = lane; i < RankFlags::kCounters; i += kLanes) own->counters[i] = 0;
  if (lane == 0) own->done = 0;
  __syncwarp();  // what a lane publishes comes after the other lanes' zeros
  for (int rank = lane; rank < run.ranks; rank += kLanes) {
    const u64 number = own->epochs[rank] + run.step;
    if (rank != run.rank) run.flags[rank]->places[run.rank] = placed(run, number);
    publish(rank == run.rank ? &own->epoch : &run.flags[rank]->ready[run.rank], number);
  }
}

/// Waits until this rank's epoch has begun and all peers have reached it. By each of `warps` warps
/// of the launch, once. The last one to know which run this is counts it, for the next launch. Lane
/// 1 does so; lane 0, which stores, goes on.
__device__ __forceinline__ void rank_barrier(const Run& run, u32 warps) {
  RankFlags* own = own_flags(run);
  const int lane = lane_of_warp();
#pragma unroll 1
  for (int rank = lane; rank < run.ranks; rank += kLanes) {
    const u64* word = rank == run.rank ? &own->epoch : &own->ready[rank];
    if (!wait_for_rank(run, word, own->epochs[rank] + run.step, rank)) forget_place(run, rank);
  }
  __syncwarp();
  if (lane != 1) return;
  __threadfence();  // `epochs` is read before the ticket is taken
  if (atomicAdd(&own->ticket, 1) + 1 < warps) return;
#pragma unroll 1
  for (int rank = 0; rank < run.ranks; ++rank) own->epochs[rank] += run.step;
  own->ticket = 0;
}

/// A position of the queue, asked for before it is needed. If it is not below `Run::items`, the
/// queue is empty.
struct Claim {
  int position;
  u32 dead;  // then the item is not worked on
};

/// Asks for the next position. The answer takes most of a microsecond: it is waited for where it is
/// first looked at.
__device__ __forceinline__ Claim claim(const Run& run) {
  RankFlags* own = own_flags(run);
  return {static_cast<int>(atomicAdd(&own->claims, 1)), seen(&own->dead)};
}

/// The position of a claim. In a world that has ended, the queue is emptied without work.
__device__ __forceinline__ int position_of(const Run& run, Claim& claimed) {
  while (claimed.dead != 0 && claimed.position < run.items) claimed = claim(run);
  return claimed.position;
}

/// Tells the host, at the end of a cluster's work, that items were left out: maybe no wait of this
/// launch has ended. `dead`: as the last claim found it.
__device__ __forceinline__ void tell_left_out(const Run& run, u32 dead) {
  if (dead != 0) give_up(run, Awaited::told, 0, 0);
}

/// Whether a position is the last one that anybody asks for: each cluster gets one that is none.
/// Then the queue is reset for the next launch.
__device__ __forceinline__ bool ends_queue(const Run& run, int position) {
  const bool last = position == run.items - 1 + run.clusters;
  if (last) own_flags(run)->claims = 0;
  return last;
}

}  // namespace overlaptune::kernels::device
