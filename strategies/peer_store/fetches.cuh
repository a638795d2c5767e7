#pragma once
// Fetches of gemm_all_reduce (`peer_store`): an owner adds the sums of its tiles up, stores them in
// its own C, and keeps them in its slots; the other ranks fetch them into theirs.
//
// C may so lie anywhere: no rank writes into the C of another one. The sums lie in the slots of the
// first peer, whose tiles have been read by then. When the sums of all peers for a wave group are
// ready (`RankFlags::summed`), the group can be fetched. A fetch is cut into shares, one for each
// cluster; each is an item of the queue, behind a wave of tiles or so that are multiplied
// meanwhile. (`FetchOrder` in strategies/peer_store/store_order.hpp has the order.) Of a CTA only
// the storing warps have work then: a subtile comes from the slot into a staging buffer by a bulk
// copy, and goes from there into C by TMA, as one that the consumer has filled.
//
// The peers still read this rank's slots when it has nothing left to do. So it ends only when all
// have told that they have fetched everything (`RankFlags::done`).

#include "kernels/device/hopper_copies.cuh"

namespace overlaptune::kernels::device {

/// The first subtile of a tile in the slots of `owner`, for the sums of peer number `source`, not
/// counting the owner.
template <class K>
constexpr long long kTileBytes = K::kBlockM* K::kBlockN * 2;
template <class K>
__device__ __forceinline__ char* slot_of(const typename K::Epilogue::Params& peers, int owner,
                                         int source, int slot) {
  return peers.slots_of[owner] +
         (static_cast<long long>(source) * peers.slots + slot) * kTileBytes<K>;
}

/// Subtiles of a tile, those of all consumers.
template <class K>
constexpr u32 kSubtilesOfTile = K::kDown / 64 * K::kSubtiles;

/// Fetches a tile into C: every subtile whose turn is this consumer's. `from`: the first subtile in
/// the owner's slot. `before`: subtiles that this thread has fetched before. Returns them and
/// these.
template <class K>
__device__ __forceinline__ u32 fetch_tile(const Launch<K>& launch, u32 consumer,
                                          const Buffers& buffers, u32 fetched, const char* from,
                                          const Place& place, u32 before) {
  const u32 end = before + (kSubtilesOfTile<K> + K::kConsumers - 1 - consumer) / K::kConsumers;
  const auto subtile_of = [&](u32 use) { return consumer + (use - before) * K::kConsumers; };
  u32 loaded = before;
  u32 stored = before;
  u32 reading = 0;  // buffers that stores may still read
#pragma unroll 1
  while (true) {
#pragma unroll 1
    for (; loaded < end && loaded - stored + reading < kFetchBuffers<K>; ++loaded) {
      const u32 buffer = loaded % kFetchBuffers<K>;
      barrier_expect(fetched + 8 * buffer, K::kSubtileBytes);
      load_bytes(buffers.subtiles + buffer * K::kSubtileBytes,
                 from + subtile_of(loaded) * K::kSubtileBytes, fetched + 8 * buffer,
                 K::kSubtileBytes);
    }
    if (stored == end) break;
    const u32 buffer = stored % kFetchBuffers<K>;
    barrier_wait(fetched + 8 * buffer, stored / kFetchBuffers<K> & 1);
    const Place at = place_of_subtile<K>(place, static_cast<int>(subtile_of(stored)));
    store(&launch.epilogue.c[0], buffers.subtiles + buffer * K::kSubtileBytes, at.column, at.row,
          0);
    end_stores();
    ++stored;
    reading = kFetchBuffers<K> > 1 ? 1 : 0;
    wait_for_reads<(kFetchBuffers<K> > 1 ? 1 : 0)>();
  }
  wait_for_reads<0>();
  return end;
}

/// The part of a storing warp in a fetch, by one thread. `fetched`: barriers of the consumer's
/// staging buffers for what is fetched into them. Consumers that take turns have this item twice,
/// one each, so that all share the work. The rest as in `fetch_tile`.
template <class K>
__device__ __forceinline__ u32 fetch_sums(const Launch<K>& launch, u32 consumer,
                                          const Buffers& buffers, u32 fetched, const Item& item,
                                          u32 before) {
  const auto& peers = launch.epilogue;
  wait_for(launch.run, own_flags(launch.run)->summed + item.index, peers.fetches.summed[item.index],
           Awaited::summed, item.index);
  fence_copies();  // TMA reads what the counter says is there
  const int ctas = takes_for_other<K>(launch.order) ? 2 : 1;  // that have this item
  int number = ctas * item.slot + (ctas == 2 ? static_cast<int>(cluster_rank()) : 0);
  Stored tile;
#pragma unroll 1
  for (; find_sums(peers, item.index, number, tile); number += ctas * peers.fetches.shares) {
    before =
        fetch_tile(launch, consumer, buffers, fetched, slot_of<K>(peers, tile.owner, 0, tile.slot),
                   place_of<K::kBlockM, K::kBlockN>(launch.order, tile.tile), before);
  }
  return before;
}

/// Tells, once all storing warps of the launch have fetched all that they will, the peers that
/// their slots are free. By one thread of each of these warps. All sums that this launch has waited
/// for were there then, so that the words that count them are reset for the next one.
template <class K>
__device__ __forceinline__ void tell_fetched(const Launch<K>& launch) {
  const Run& run = launch.run;
  RankFlags* own = own_flags(run);
  __threadfence();
  if (atomicAdd(&own->ended, 1) + 1 < gridDim.x * K::kConsumers) return;
  __threadfence();  // all warps' fetches come before what follows
  own->ended = 0;
#pragma unroll 1
  for (int group = 0; group < launch.epilogue.groups_count; ++group) own->summed[group] = 0;
#pragma unroll 1
  for (int rank = 0; rank < K::Epilogue::kRanks; ++rank) {
    if (rank != run.rank) increment(&run.flags[rank]->done, 1);
  }
}

}  // namespace overlaptune::kernels::device
