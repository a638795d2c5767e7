#include "core/store_order.hpp"

#include <algorithm>

#include "core/staging.hpp"

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

StoreCosts store_costs(const Tile& tile, const GpuLimits& limits, Dtype dtype) {
  // Where consumers take turns, most of it passes while the other one multiplies; not so with a
  // single buffer, because each slab then waits for its load (tests/bench/peer_store_bench).
  constexpr double kShown = 0.4;
  const Staging staging = staging_of(tile, limits, dtype);
  const double shown = staging.slabs * (staging.in_turn && staging.buffers > 1 ? kShown : 1.0);
  return {shown * limits.store_slab, shown * limits.store_add};
}

std::int64_t slot_bytes(const StoreOrder& order) {
  return std::int64_t{order.part.block_m} * order.part.block_n * order.part.element_bytes;
}

}  // namespace overlaptune
