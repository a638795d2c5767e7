#include "strategies/peer_store/traits.hpp"

#include <algorithm>

#include "strategies/peer_store/store_order.hpp"

namespace overlaptune {

Expected<void> TraitsOf<PeerStore>::check(const Problem& problem, const PeerStore& config) {
  const TileOrder order = tile_order(problem, config.tile, config.swizzle);
  if (auto fits = are_groups_of(order, config.wave_groups); !fits) return fits;
  return has_few_groups(config.wave_groups.size(), PeerStore::name);
}

TiledWork TraitsOf<PeerStore>::work(const Problem& problem, const PeerStore& config) {
  TiledWork work = tiled_work(problem, config.tile, config.swizzle, config.wave_groups);
  work.kernel.regions = static_cast<int>(work.cuts.size());
  work.kernel.ranks = problem.ranks;
  return work;
}

}  // namespace overlaptune
