#include "strategies/peer_store/store_order.hpp"

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
  StoreOrder made{.part = order,
                  .ranks = problem.ranks,
                  .owns_blocks = traits_of(problem.op).row_blocks,
                  .own_later = own_tiles_come_later(problem)};
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

bool own_tiles_come_later(const Problem& problem) {
  constexpr std::int64_t kLongProduct = 2048;
  return traits_of(problem.op).in_place() || problem.k < kLongProduct;
}

std::int64_t tiles_before_waits(const StoreOrder& order, int rank, bool adds) {
  if (!adds) return order.tiles();
  const std::size_t steps = std::min<std::size_t>(order.own_later ? 2 : 1, order.groups.size());
  std::int64_t tiles = 0;
  for (std::size_t group = 0; group < steps; ++group) {
    for (int owner = 0; owner < order.ranks; ++owner) {
      if (owner != rank) tiles += order.share(group, owner).count();
    }
  }
  return tiles;
}

StoredTile stored_tile(const StoreOrder& order, int rank, std::int64_t position) {
  const std::size_t later = order.own_later ? 1 : 0;
  const auto found = [&](std::size_t group, int owner) {
    return StoredTile{.group = group,
                      .owner = owner,
                      .tile = order.share(group, owner).begin + position,
                      .slot = order.groups[group].slot + position};
  };
  for (std::size_t group = 0; group < order.groups.size(); ++group) {
    for (int turn = 1; turn < order.ranks; ++turn) {
      const int owner = (rank + turn) % order.ranks;
      const std::int64_t count = order.share(group, owner).count();
      if (position < count) return found(group, owner);
      position -= count;
    }
    if (group < later) continue;
    const std::int64_t count = order.share(group - later, rank).count();
    if (position < count) return found(group - later, rank);
    position -= count;
  }
  return found(order.groups.size() - 1, rank);
}

std::int64_t slot_bytes(const StoreOrder& order) {
  return std::int64_t{order.part.block_m} * order.part.block_n * result_bytes(order.part.elements);
}

}  // namespace overlaptune
