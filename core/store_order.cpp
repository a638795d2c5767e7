#include "core/store_order.hpp"

#include <algorithm>

namespace overlaptune {

std::int64_t StoreOrder::slots() const {
  const Group& last = groups.back();
  const std::int64_t owners = owns_blocks ? 1 : ranks;
  return last.slot + (last.tiles.count() + owners - 1) / owners;
}

TileRange StoreOrder::share(std::size_t group, int owner) const {
  const TileRange& all = groups[group].tiles;
  if (owns_blocks) return all;
  const auto begin_of = [&](std::int64_t rank) { return all.begin + all.count() * rank / ranks; };
  return {begin_of(owner), begin_of(owner + 1)};
}

StoreOrder store_order(const Problem& problem, const TileOrder& order, std::span<const Cut> cuts) {
  StoreOrder made{
      .part = order, .ranks = problem.ranks, .owns_blocks = problem.op != Op::gemm_all_reduce};
  made.part.blocks = 1;
  std::int64_t begin = 0;
  std::int64_t slot = 0;
  for (const Cut& cut : cuts) {
    const std::int64_t end = cut.tiles / order.blocks;
    made.groups.push_back({.tiles = {begin, end}, .slot = slot});
    slot = made.slots();
    begin = end;
  }
  return made;
}

StoredTile stored_tile(const StoreOrder& order, int rank, std::int64_t position) {
  for (std::size_t group = 0;; ++group) {
    for (int turn = 1; turn <= order.ranks; ++turn) {
      const int owner = (rank + turn) % order.ranks;
      const TileRange share = order.share(group, owner);
      if (position < share.count()) {
        return {.group = group,
                .owner = owner,
                .tile = share.begin + position,
                .slot = order.groups[group].slot + position};
      }
      position -= share.count();
    }
  }
}

bool takes_turns(const Tile& tile, const GpuLimits& limits) {
  constexpr int kRowBytes = 128;  // of A or B, in one step of k
  constexpr int kElementBytes = 2;
  constexpr int kOtherBytes = 1536;  // barriers and alignment
  constexpr int kMostSums = 192;     // of a thread, which leave it registers for the rest
  const int ring = tile.stages * (tile.block_m + tile.block_n) * kRowBytes;
  const int buffers = 2 * 64 * std::min(tile.block_n, 64) * kElementBytes;
  return tile.block_m / 64 * tile.block_n / 2 <= kMostSums &&
         ring + buffers + kOtherBytes <= limits.shared_memory_bytes;
}

StoreCosts store_costs(const Tile& tile, const GpuLimits& limits) {
  // Where consumers take turns, most of it passes while the other one multiplies
  // (tests/bench/peer_store_bench: 0.3 to 0.4 us a tile of 128x128).
  constexpr double kShown = 0.3;
  constexpr int kSide = 64;
  const bool in_turn = takes_turns(tile, limits);
  const double shown = in_turn ? kShown : 1;
  const int consumers = in_turn ? 1 : tile.block_m == 256 ? 2 : tile.block_m / kSide;
  const double squares = static_cast<double>(tile.block_m) * tile.block_n / (kSide * kSide);
  return {shown * limits.store_tile, shown * squares / consumers * limits.store_add};
}

std::int64_t slot_bytes(const StoreOrder& order) {
  return std::int64_t{order.part.block_m} * order.part.block_n * order.part.element_bytes;
}

}  // namespace overlaptune
