#pragma once
// The properties and rules of `peer_store`.

#include "core/config/rules.hpp"
#include "core/config/strategy_traits.hpp"
#include "core/config/work_parts.hpp"
#include "core/problem.hpp"

namespace overlaptune {

template <>
struct TraitsOf<PeerStore> : GroupsInTileOrder<PeerStore> {
  static constexpr StrategyTraits row{
      .gemm = GemmFamily::generated,
      .ops = {Op::gemm_all_reduce, Op::gemm_reduce_scatter, Op::gemm_all_to_all},
      .transports = {Transport::peer_access},
      .needs = {Need::peer_memory, Need::queue},
      .in_gemm = {Transport::peer_access},
      .has_collective = false,
      .collective_per_group = false,
      .largest_area = &GpuLimits::largest_store_area};

  [[nodiscard]] static Expected<void> check(const PeerStore& /*config*/) { return {}; }
  [[nodiscard]] static Expected<void> check(const Problem& problem, const PeerStore& config) {
    const TileOrder order = tile_order(problem, config.tile, config.swizzle);
    if (auto fits = are_groups_of(order, config.wave_groups); !fits) return fits;
    return has_few_groups(config.wave_groups.size(), PeerStore::name);
  }
  [[nodiscard]] static TiledWork work(const Problem& problem, const PeerStore& config) {
    TiledWork work = tiled_work(problem, config.tile, config.swizzle, config.wave_groups);
    work.kernel.regions = static_cast<int>(work.cuts.size());
    work.kernel.ranks = problem.ranks;
    return work;
  }
};

}  // namespace overlaptune
