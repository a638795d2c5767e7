#pragma once
// The order of the tiles of a launch that stores each at the rank that owns it: `StoreOrder` of
// strategies/peer_store/store_order.hpp.

#include "kernels/device/parameters.cuh"
#include "kernels/device/ptx/common.cuh"

namespace overlaptune::kernels::device {

/// `StoredTile` of strategies/peer_store/store_order.hpp.
struct Stored {
  int group;
  int owner;
  int tile;
  int slot;
};

/// The tiles of a group that a rank owns: `TileRange` of strategies/peer_store/store_order.hpp.
struct Share {
  int begin;
  int count;
};
template <int kRanks, int kGroups>
__device__ __forceinline__ Share share(const AtRanksParams<kRanks, kGroups>& peers, int group,
                                       int owner) {
  const int first = group > 0 ? peers.groups[group - 1].end : 0;
  const int count = peers.groups[group].end - first;
  if (peers.owns_blocks) return {first, count};
  const auto begin_of = [&](long long rank) { return static_cast<int>(count * rank / kRanks); };
  return {first + begin_of(owner), begin_of(owner + 1) - begin_of(owner)};
}

/// `step`: that of a tile nearby, or -1; the search begins there, and it becomes that of the tile.
/// A step has the peers' tiles of the group with its number, and the own tiles that follow them.
/// With `own_later` there is one step more, which has only own tiles.
template <int kRanks, int kGroups>
__device__ __forceinline__ Stored stored(const AtRanksParams<kRanks, kGroups>& peers, int position,
                                         int& step) {
  const int last = peers.groups_count - 1 + peers.own_later;
  step = step < 0 ? 0 : step;
  while (step < last && position >= peers.groups[step].computed) ++step;
  while (step > 0 && position < peers.groups[step - 1].computed) --step;
  int rest = position - (step > 0 ? peers.groups[step - 1].computed : 0);
  if (step < peers.groups_count) {
#pragma unroll 1  // unrolled, it takes too many registers
    for (int turn = 1; turn < kRanks; ++turn) {
      const int owner = (peers.rank + turn) % kRanks;
      const Share part = share(peers, step, owner);
      if (rest < part.count)
        return {step, owner, part.begin + rest, peers.groups[step].slot + rest};
      rest -= part.count;
    }
  }
  const int group = step - peers.own_later;
  return {group, peers.rank, share(peers, group, peers.rank).begin + rest,
          peers.groups[group].slot + rest};
}

}  // namespace overlaptune::kernels::device
