#include "strategies/peer_store/traits.hpp"

#include <algorithm>

#include "core/config/rules.hpp"
#include "strategies/peer_store/store_order.hpp"

namespace overlaptune {

Expected<void> TraitsOf<PeerStore>::check(const PeerStore& /*config*/) {
  return {};
}

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

int TraitsOf<PeerStore>::divided(const Problem& /*problem*/) {
  return 1;
}

std::vector<Share> TraitsOf<PeerStore>::shares(const Problem& /*problem*/,
                                               const PeerStore& config) {
  return shares_of(config.wave_groups);
}

void TraitsOf<PeerStore>::fit(const Problem& problem, PeerStore& config,
                              std::span<const Share> shares, int sms) {
  config.swizzle = most_swizzle(problem, config.tile, config.swizzle);
  const TileOrder order = tile_order(problem, config.tile, config.swizzle);
  const WaveCuts cuts(order, std::max(1, sms), Transport::peer_access);
  config.wave_groups = nearest_groups(cuts, order.tiles(), shares);
}

}  // namespace overlaptune
