#pragma once
// Fetches of gemm_all_reduce (`peer_store`): an owner adds the sums of its tiles up, and stores
// them in its own C and in the memory of each peer. From there the peer *fetches* them into its C,
// which may so lie anywhere. Where C is that memory, nothing is fetched.
//
// All threads that store for a consumer share the subtiles of every wave group. Before it stores a
// tile, while the consumers still multiply it, a thread fetches some of its subtiles, if the sums
// of all peers for their group are there (`RankFlags::summed`). It waits for sums only behind its
// last tile. So nobody waits for a fetch. (CTAs that share a tile have no other one: they would
// wait while other tiles need their SMs. They fetch nothing.) A subtile comes into a staging buffer
// by TMA, and goes from there into C, as one that the consumer has filled.
//
// No peer writes here before this rank has come to its next run, behind all of its fetches.

#include "kernels/device/hopper_copies.cuh"

namespace overlaptune::kernels::device {

template <class K>
constexpr int kSubtilesOfTile = K::kDown / 64 * K::kSubtiles;  // those of all consumers

/// The threads that store for a consumer.
template <class K>
__device__ __forceinline__ int storing_threads() {
  return static_cast<int>(gridDim.x) * K::kConsumers;
}

/// Fetches the next `count` subtiles of a thread, which are in one group. By one thread of a
/// storing warp. `barriers`: of the consumer's staging buffers, for what is fetched into them.
template <class K>
__device__ __forceinline__ void fetch_subtiles(const Launch<K>& launch, const Buffers& buffers,
                                               u32 barriers, volatile FetchState& state,
                                               u32 count) {
  // Of two buffers, both are loaded: stores read them in no time. Of more, one may be read.
  constexpr u32 kReading = 2 < kFetchBuffers<K> ? 1 : 0;
  const auto& peers = launch.epilogue;
  fence_copies();  // TMA reads what the counter says is there
  u32 loaded = 0;
  u32 stored = 0;
  u32 reading = 0;  // buffers that stores may still read
  // Registers are few: the state is read anew, and what is loaded is found once more where it is
  // stored.
#pragma unroll 1
  while (stored < count) {
    const bool loads = loaded < count && loaded - stored + reading < kFetchBuffers<K>;
    const u32 use = loads ? loaded : stored;
    const int number = state.next + static_cast<int>(use) * storing_threads<K>();
    const int tile = tile_to_fetch(peers, state.group, number / kSubtilesOfTile<K>);
    const Place at = place_of_subtile<K>(place_of<K::kBlockM, K::kBlockN>(launch.order, tile),
                                         number % kSubtilesOfTile<K>);
    const u32 uses = state.fetched + use;
    const u32 buffer = uses % kFetchBuffers<K>;
    const u32 subtile = buffers.subtiles + buffer * K::kSubtileBytes;
    const u32 barrier = barriers + 8 * buffer;
    if (loads) {
      barrier_expect(barrier, K::kSubtileBytes);
      load(subtile, &peers.fetches.sums, barrier, at.column, at.row, 0);
      ++loaded;
    } else {
      barrier_wait(barrier, uses / kFetchBuffers<K> & 1);
      store(&peers.c[peers.rank], subtile, at.column, at.row, 0);
      end_stores();
      ++stored;
      reading = kReading;
      wait_for_reads<kReading>();
    }
  }
  wait_for_reads<0>();
  state.fetched = state.fetched + count;
  state.next = state.next + static_cast<int>(count) * storing_threads<K>();
}

/// What a thread that stores for a consumer fetches before it stores a tile; or, at the end, all
/// that is left of its share: every so manieth subtile, counted through all groups. It waits for
/// their sums at the end alone.
template <class K>
__device__ __forceinline__ void fetch(const Launch<K>& launch, int consumer, Items<K>& items,
                                      const Buffers& buffers, bool is_end) {
  const auto& peers = launch.epilogue;
  volatile FetchState& state = items.states[consumer];
  // More than its share for each of its tiles, so that it catches up where sums come late: one and
  // a half tiles. (Measured on 2 ranks alone; a rank fetches less than a tile for each of its own.)
  state.enough = 3 * K::kSubtilesOfConsumer / 2;
#pragma unroll 1
  while (state.group < peers.groups_count && state.enough > 0) {
    const int group = state.group;
    const int left = subtiles_to_fetch<kSubtilesOfTile<K>>(peers, group) - state.next;
    if (left <= 0) {
      state.next = -left;
      state.group = group + 1;
      continue;
    }
    const u32* summed = own_flags(launch.run)->summed + group;
    const u32 all = peers.fetches.summed[group];
    if (is_end) {
      if (!wait_for(launch.run, summed, all, Awaited::summed, group)) break;
    } else if (!has_reached(summed, all)) {
      break;
    }
    const int enough = state.enough;
    const int there = (left + storing_threads<K>() - 1) / storing_threads<K>();
    const int count = is_end || there < enough ? there : enough;
    if (!is_end) state.enough = enough - count;
    const u32 barriers = shared_address(items.fetched + consumer * kFetchBuffers<K>);
    fetch_subtiles(launch, buffers, barriers, state, static_cast<u32>(count));
  }
}

}  // namespace overlaptune::kernels::device
