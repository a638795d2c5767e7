#include "strategies/peer_store/run_stored_tiles.hpp"

#include <utility>

namespace overlaptune::run {

GeneratedStores stores_of(const Problem& problem, const StoreOrder& order, int rank,
                          std::vector<GeneratedStores::Peer> peers, int signals_a_tile) {
  const auto signals = [&](std::int64_t tiles) {
    return static_cast<std::uint32_t>(tiles * signals_a_tile);
  };
  GeneratedStores made{.rank = rank,
                       .owns_blocks = order.owns_blocks,
                       .own_later = order.own_later,
                       .adds = traits_of(problem.op).sums,
                       .slots = order.slots(),
                       .before_waits = tiles_before_waits(order, rank, traits_of(problem.op).sums),
                       .peers = std::move(peers)};
  std::int64_t into_c = 0;  // tiles that peers store into this rank's C
  std::int64_t computed = 0;
  std::int64_t own_before = 0;
  for (std::size_t i = 0; i < order.groups.size(); ++i) {
    const StoreOrder::Group& group = order.groups[i];
    const std::int64_t own = order.share(i, rank).count();
    const std::int64_t all = group.tiles.count() * (order.owns_blocks ? order.ranks : 1);
    computed += all - own + (order.own_later ? own_before : own);
    own_before = own;
    made.groups.push_back({.end = static_cast<int>(group.tiles.end),
                           .computed = static_cast<int>(computed),
                           .slot = static_cast<int>(group.slot),
                           .arrivals = made.adds ? signals((order.ranks - 1) * own) : 0});
    if (!made.adds) into_c += (order.ranks - 1) * own;
    if (!made.owns_blocks) into_c += group.tiles.count() - own;
  }
  made.done = signals(into_c);
  return made;
}

std::int64_t bytes_of_slots(const Problem& problem, const StoreOrder& order) {
  if (!traits_of(problem.op).sums) return 0;
  return (order.ranks - 1) * order.slots() * slot_bytes(order);
}

}  // namespace overlaptune::run
