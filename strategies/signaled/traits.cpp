#include "strategies/signaled/traits.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace overlaptune {

Expected<void> TraitsOf<Signaled>::check(const Signaled& config) {
  const Transport beside = config.transport.beside_gemm;
  if (config.wait == Wait::kernel && !kernel_waits.contains(beside)) {
    return bad_input(fmt::format("wait = kernel: expected driver with {} by {}", Signaled::name,
                                 to_string(beside)));
  }
  if (config.comm_ctas == kHandedOver && !is_nccls(beside)) {
    return wrong("ctas", config.comm_ctas,
                 fmt::format("1 or more with signaled by {}; 0 (one CTA for each tile) is for "
                             "transports of NCCL's",
                             to_string(beside)));
  }
  return {};
}

Expected<void> TraitsOf<Signaled>::check(const Problem& problem, const Signaled& config) {
  const TileOrder order = tile_order(problem, config.tile, config.swizzle);
  if (auto fits = are_groups_of(order, config.wave_groups); !fits) return fits;
  const Transport beside = config.transport.beside_gemm;
  if (beside == Transport::peer_access) {
    if (auto fits = peers_can_move(problem); !fits) return fits;
  }
  // A group has at most three regions.
  constexpr std::size_t kMostRegionsOfGroup = 3;
  const bool few = kMostRegionsOfGroup * config.wave_groups.size() <= kMostRegions;
  if (few && beside != Transport::copy_engine) return {};
  const auto cuts = group_cuts(order, config.wave_groups);
  if (!cuts) return error_of(cuts);
  const auto allowed = [&](const Cut& cut) { return allows(beside, cut); };
  if (!std::all_of(cuts->begin(), cuts->end(), allowed)) {
    return bad_input("groups: transport copy_engine needs groups of whole swizzle groups");
  }
  const std::size_t count = region_count(order, *cuts);
  if (count <= kMostRegions) return {};
  return bad_input(
      fmt::format("groups: {} regions of C: expected at most {}", count, kMostRegions));
}

TiledWork TraitsOf<Signaled>::work(const Problem& problem, const Signaled& config) {
  return tiled_work(problem, config.tile, config.swizzle, config.wave_groups);
}

}  // namespace overlaptune
