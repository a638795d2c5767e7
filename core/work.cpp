#include "core/work.hpp"

#include "core/arrivals.hpp"

namespace overlaptune {
namespace {

TiledWork tiled_work(const Problem& problem, const Tile& tile, int raster,
                     const std::vector<std::int64_t>& wave_groups) {
  const TileOrder order = tile_order(problem, tile, raster);
  std::vector<Cut> cuts = value_or_throw(group_cuts(order, wave_groups));
  const TiledKernel kernel{.tile = tile,
                           .elements = problem.elements,
                           .regions = static_cast<int>(region_count(order, cuts))};
  return {order, std::move(cuts), kernel};
}

TiledWork waiting_work(const Problem& problem, const Waiting& config) {
  std::vector<Cut> cuts = value_or_throw(
      arrival_cuts(arrival_order(problem, config.tile, config.raster), config.wave_groups));
  const TiledKernel kernel{.tile = config.tile,
                           .elements = problem.elements,
                           .regions = static_cast<int>(cuts.size()),
                           .waits = true};
  return {tile_order(problem, config.tile, config.raster), std::move(cuts), kernel};
}

TiledWork stored_work(const Problem& problem, const PeerStore& config) {
  TiledWork work = tiled_work(problem, config.tile, config.raster, config.wave_groups);
  work.kernel.regions = static_cast<int>(work.cuts.size());
  work.kernel.ranks = problem.ranks;
  return work;
}

/// The parts that the fields of a strategy give: tiles and wave groups, chunks, or one product.
template <class Own>
std::variant<ChunkedWork, TiledWork> parts_of(const Problem& problem, const Own& config) {
  if constexpr (std::is_same_v<Own, Waiting>) {
    return waiting_work(problem, config);
  } else if constexpr (std::is_same_v<Own, PeerStore>) {
    return stored_work(problem, config);
  } else if constexpr (requires { config.tile; }) {
    return tiled_work(problem, config.tile, config.raster, config.wave_groups);
  } else if constexpr (requires { config.chunks; }) {
    return ChunkedWork{value_or_throw(chunk_rows(problem, config.chunks))};
  } else {
    return ChunkedWork{{problem.m / row_blocks(problem)}};
  }
}

}  // namespace

Expected<Work> Work::make(const Problem& problem, Config config, const Capabilities& capabilities) {
  if (const auto legal = check(problem, config, capabilities); !legal) return error_of(legal);
  Parts parts = std::visit([&](const auto& own) { return parts_of(problem, own); }, config);
  return Work(problem, std::move(config), std::move(parts));
}

std::optional<TiledKernel> Work::kernel() const {
  const auto* tiled = std::get_if<TiledWork>(&parts_);
  return tiled == nullptr ? std::nullopt : std::optional(tiled->kernel);
}

}  // namespace overlaptune
