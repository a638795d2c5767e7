#include "core/config/untuned.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/config/check.hpp"
#include "core/config/config_fields.hpp"
#include "core/config/strategies.hpp"
#include "core/config/tiling.hpp"
#include "core/gpu.hpp"
#include "strategies/waiting/arrivals.hpp"

namespace overlaptune {
namespace {

constexpr Tile kTile{.block_m = 128, .block_n = 256, .stages = 4, .cluster = 1};
constexpr int kExactColumns = 128;  // of a tile whose sums are exact, which take more registers
constexpr int kSwizzle = 8;
constexpr int kCtas = 16;
constexpr int kChunks = 4;
constexpr std::int64_t kGroups = 8;
/// Ranks up to which `waiting` takes the rows of each other rank in two groups.
constexpr int kMostRanksOfTwoGroups = 64;

[[nodiscard]] bool has(const StrategyTraits& traits, Transport transport) {
  return traits.transports.contains(transport);
}
[[nodiscard]] bool has(const StrategyTraits& traits, const GroupTransports& transports) {
  return has(traits, transports.beside_gemm) && has(traits, transports.last);
}

/// The strategy, and each of its transports, as they are named.
std::vector<std::string> ways_of(const StrategyTraits& traits) {
  const std::string strategy(to_string(traits.strategy));
  std::vector<std::string> ways;
  const Config config = default_config(traits.strategy);
  with_field<config_field::Transport>(config, [&]<class Value>(const Value&) {
    for (const auto& [value, name] : NamesOf<Value>::all) {
      if (has(traits, value)) ways.push_back(fmt::format("{}/{}", strategy, name));
    }
  });
  if (ways.empty()) ways.push_back(strategy);
  return ways;
}

/// Sets the transport of this name. Error: the strategy has no such transport.
Expected<void> set_transport(Config& config, std::string_view name) {
  const StrategyTraits& traits = traits_of(strategy_of(config));
  bool is_set = false;
  with_field<config_field::Transport>(config, [&]<class Value>(Value& value) {
    const auto found = find_name<Value>(name);
    is_set = found && has(traits, *found);
    if (is_set) value = *found;
  });
  if (is_set) return {};
  return bad_input(fmt::format("{}: no transport '{}': expected one of {}",
                               to_string(traits.strategy), printable(name),
                               fmt::join(ways_of(traits), ", ")));
}

/// Tiles of each wave group, a few for each wave of the GEMM.
template <class Own>
std::vector<std::int64_t> groups(const Problem& problem, const Own& own) {
  const TileOrder order = tile_order(problem, own.tile, own.swizzle);
  const std::int64_t part = (order.tiles() + kGroups - 1) / kGroups;
  const auto wave = static_cast<int>(std::min<std::int64_t>(part, std::numeric_limits<int>::max()));
  std::vector<std::int64_t> tiles;
  for (const Cut& cut : wave_cuts(order, wave, transport_of(own))) tiles.push_back(cut.tiles);
  std::adjacent_difference(tiles.begin(), tiles.end(), tiles.begin());
  return tiles;
}

/// The rank's own rows, then the rows of each other rank in two groups or in one.
std::vector<std::int64_t> groups(const Problem& problem, const Waiting& own) {
  const ArrivalOrder order = arrival_order(problem, own.tile, own.swizzle);
  const std::int64_t all = order.block.tiles();
  const std::int64_t half = arrival_cut(order, 0, order.block.swizzle_groups() / 2).tiles;
  std::vector<std::int64_t> tiles{all};
  for (int block = 1; block < order.blocks; ++block) {
    const bool is_cut = half > 0 && order.blocks <= kMostRanksOfTwoGroups;
    if (is_cut) tiles.push_back(half);
    tiles.push_back(is_cut ? all - half : all);
  }
  return tiles;
}

}  // namespace

std::string all_ways() {
  std::vector<std::string> ways;
  for (const StrategyTraits& traits : kStrategies) {
    const auto own = ways_of(traits);
    ways.insert(ways.end(), own.begin(), own.end());
  }
  return fmt::format("{}", fmt::join(ways, ","));
}

Expected<Config> untuned_config(const Problem& problem, std::string_view way) {
  const std::size_t slash = std::min(way.find('/'), way.size());
  const auto strategy = parse_name<Strategy>(printable(way.substr(0, slash)));
  if (!strategy) return error_of(strategy);
  const bool is_generated = traits_of(*strategy).gemm == GemmFamily::generated;
  Config config = default_config(*strategy);
  if (slash < way.size()) {
    if (auto set = set_transport(config, way.substr(slash + 1)); !set) return error_of(set);
  } else if (is_generated && is_nccls(transport_of(config))) {
    // Peers' memory needs no communicator of its own, and no setting of NCCL's.
    if (auto set = set_transport(config, "peer_access"); !set) return error_of(set);
  }
  with_field<config_field::Tile>(config, [&](Tile& tile) {
    tile = kTile;
    if (is_exact(problem.elements)) tile.block_n = kExactColumns;
    tile.block_k = block_k_of(problem.elements);
  });
  with_field<config_field::Swizzle>(config, [](int& swizzle) { swizzle = kSwizzle; });
  with_field<config_field::Chunks>(config, [&](int& chunks) {
    const std::int64_t rows = problem.m / row_blocks(problem);
    chunks = static_cast<int>(std::clamp<std::int64_t>(rows, 1, kChunks));
  });
  std::visit(
      [&](auto& own) {
        if constexpr (requires { own.wave_groups; }) own.wave_groups = groups(problem, own);
      },
      config);
  // Collectives of NCCL beside a generated GEMM begin late unless SMs are left to them, and 0 by
  // peer access would mean that tiles push. Elsewhere 0 is usual, if it is allowed.
  const Transport transport = transport_of(config);
  const bool takes_ctas =
      transport == Transport::peer_access || (is_generated && is_nccls(transport));
  with_field<config_field::CommCtas>(config, [&](int& ctas) { ctas = takes_ctas ? kCtas : 0; });
  if (!check(config)) with_field<config_field::CommCtas>(config, [](int& ctas) { ctas = kCtas; });
  if (auto able = check(problem, config, {}); !able) return error_of(able);
  return config;
}

}  // namespace overlaptune
