#include "core/waiting_traits.hpp"

#include <utility>
#include <vector>

#include "core/arrivals.hpp"
#include "core/rules.hpp"

namespace overlaptune {

Expected<void> TraitsOf<Waiting>::check(const Waiting& config) {
  return has_ctas_for(config.transport, config.comm_ctas);
}

Expected<void> TraitsOf<Waiting>::check(const Problem& problem, const Waiting& config) {
  const ArrivalOrder order = arrival_order(problem, config.tile, config.raster);
  const auto cuts = arrival_cuts(order, config.wave_groups);
  if (!cuts) return error_of(cuts);
  if (auto few = has_few_groups(cuts->size(), Waiting::name); !few) return few;
  if (config.transport == Transport::peer_access) return peers_can_move(problem);
  return {};
}

TiledWork TraitsOf<Waiting>::work(const Problem& problem, const Waiting& config) {
  std::vector<Cut> cuts = value_or_throw(
      arrival_cuts(arrival_order(problem, config.tile, config.raster), config.wave_groups));
  const TiledKernel kernel{.tile = config.tile,
                           .elements = problem.elements,
                           .regions = static_cast<int>(cuts.size()),
                           .waits = true};
  return {tile_order(problem, config.tile, config.raster), std::move(cuts), kernel};
}

}  // namespace overlaptune
