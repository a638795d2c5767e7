#pragma once
// Fetches of gemm_all_reduce (`peer_store`): an owner adds the sums of its tiles up, and stores
// them in its own C and in the memory of each peer. From there the peer *fetches* them into its C.
//
// C may so lie anywhere: no rank writes into the C of another one. When the sums of all peers for a
// wave group are there (`RankFlags::summed`), the group can be fetched. A fetch is cut into shares,
// one for each cluster; each is an item of the queue, behind a wave of tiles or so that are
// multiplied meanwhile. (`FetchOrder` in strategies/peer_store/store_order.hpp has the order.) Of a
// CTA only the storing warps have work then: a subtile comes into a staging buffer by TMA, and goes
// from there into C, as one that the consumer has filled.
//
// No peer writes here before this rank has come to its next run, behind all of its fetches.

#include "kernels/device/hopper_copies.cuh"

namespace overlaptune::kernels::device {

/// The part of a storing warp in a fetch, by one thread: the consumers take turns at the subtiles
/// of a share, tile after tile. `barriers`: of the consumer's staging buffers, for what is fetched
/// into them. Consumers that take turns at tiles have this item twice, one each, so that all share
/// the work. `before`: subtiles that this thread has fetched before. Returns them and these.
template <class K>
__device__ __forceinline__ u32 fetch_sums(const Launch<K>& launch, int consumer,
                                          const Buffers& buffers, u32 barriers, const Item& item,
                                          u32 before) {
  constexpr int kOfTile = K::kDown / 64 * K::kSubtiles;  // subtiles, those of all consumers
  // Of two buffers, both are loaded: stores read them in no time. Of more, one may be read.
  constexpr u32 kReading = 2 < kFetchBuffers<K> ? 1 : 0;
  const auto& peers = launch.epilogue;
  const int group = item.index;
  wait_for(launch.run, own_flags(launch.run)->summed + group, peers.fetches.summed[group],
           Awaited::summed, group);
  fence_copies();  // TMA reads what the counter says is there
  const int ctas = takes_for_other<K>(launch.order) ? 2 : 1;  // that have this item
  const int first = ctas * item.slot + (ctas == 2 ? static_cast<int>(cluster_rank()) : 0);
  bool is_left = true;  // there are more to load
  u32 loaded = before;
  u32 stored = before;
  u32 reading = 0;  // buffers that stores may still read
  // Registers are few: what is loaded is found once more where it is stored.
#pragma unroll 1
  while (true) {
    const bool loads = is_left && loaded - stored + reading < kFetchBuffers<K>;
    if (!loads && stored == loaded) break;
    const u32 use = loads ? loaded : stored;
    const int number = consumer + static_cast<int>(use - before) * K::kConsumers;  // of the share
    int tile = 0;
    const bool found =
        find_sums(peers, group, first + number / kOfTile * ctas * peers.fetches.shares, tile);
    if (!found) {
      is_left = false;
      continue;
    }
    const Place at =
        place_of_subtile<K>(place_of<K::kBlockM, K::kBlockN>(launch.order, tile), number % kOfTile);
    const u32 subtile = buffers.subtiles + use % kFetchBuffers<K> * K::kSubtileBytes;
    const u32 barrier = barriers + 8 * (use % kFetchBuffers<K>);
    if (loads) {
      barrier_expect(barrier, K::kSubtileBytes);
      load(subtile, &peers.fetches.sums, barrier, at.column, at.row, 0);
      ++loaded;
    } else {
      barrier_wait(barrier, stored / kFetchBuffers<K> & 1);
      store(&peers.c[peers.rank], subtile, at.column, at.row, 0);
      end_stores();
      ++stored;
      reading = kReading;
      wait_for_reads<kReading>();
    }
  }
  wait_for_reads<0>();
  return stored;
}

}  // namespace overlaptune::kernels::device
