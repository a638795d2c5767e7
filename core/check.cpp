#include "core/check.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "core/arrivals.hpp"
#include "core/config_fields.hpp"
#include "core/tiling.hpp"

namespace overlaptune {
namespace {

tl::unexpected<Error> wrong(std::string_view field, std::int64_t value, std::string_view expected) {
  return bad_input(fmt::format("{} = {}: expected {}", field, value, expected));
}

// Each field by itself: `in_range` says whether it may have the value, and `range_of` says in words
// which values it may have. They are apart because opening a database asks the first of every
// winner.

bool in_range(const FieldInfo& info, const int& value) {
  return value >= info.least && value <= info.most;
}
bool in_range(const FieldInfo& info, const Tile& tile) {
  return in_range(info, tile.block_m) && in_range(info, tile.block_n) &&
         in_range(info, tile.block_k);
}
bool in_range(const FieldInfo&, const std::vector<std::int64_t>& groups) {
  std::int64_t left = kMostTiles;
  for (const std::int64_t tiles : groups) {
    if (tiles < 1 || tiles > left) return false;
    left -= tiles;
  }
  return !groups.empty();
}
template <class Value>
requires requires {
  NamesOf<Value>::all;
}
bool in_range(const FieldInfo&, const Value& value) {
  const auto& all = NamesOf<Value>::all;
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& known) { return known.value == value; });
}

std::string range_of(const FieldInfo& info, const int&) {
  return fmt::format("{} to {}", info.least, info.most);
}
std::string range_of(const FieldInfo& info, const Tile&) {
  return fmt::format("sides of {} to {}", info.least, info.most);
}
std::string range_of(const FieldInfo&, const std::vector<std::int64_t>&) {
  return "one or more tile counts of at least 1, together at most 2^62";
}
template <class Value>
requires requires {
  NamesOf<Value>::all;
}
std::string range_of(const FieldInfo&, const Value&) {
  return "one of " + names_of<Value>();
}

/// The error of the first field that is not in range.
tl::unexpected<Error> out_of_range(const Config& config) {
  std::string message;
  each_field(config, [&](auto field, const auto& value, Presence) {
    if (!message.empty() || in_range(field.info, value)) return;
    message = fmt::format("{}: expected {}", field.info.name, range_of(field.info, value));
    if constexpr (std::is_same_v<decltype(value), const int&>) {
      message =
          fmt::format("{} = {}: expected {}", field.info.name, value, range_of(field.info, value));
    }
  });
  return bad_input(std::move(message));
}

// Rules for the fields of one strategy together, beyond its row of `kStrategies`.

template <class Own>
Expected<void> goes_together(const Own&) {
  return {};
}

/// For transports of which one has no CTAs, and the other needs them.
Expected<void> has_ctas_for(Transport transport, int ctas) {
  if (transport == Transport::copy_engine && ctas != kNoCtas) {
    return wrong("ctas", ctas, "0 by copy_engine");
  }
  if (transport == Transport::peer_access && ctas == kNoCtas) {
    return wrong("ctas", ctas, "1 or more by peer_access");
  }
  return {};
}

Expected<void> goes_together(const Sequential& config) {
  return has_ctas_for(config.transport, config.comm_ctas);
}

Expected<void> goes_together(const Waiting& config) {
  return has_ctas_for(config.transport, config.comm_ctas);
}

Expected<void> goes_together(const Signaled& config) {
  const Transport beside = config.transport.beside_gemm;
  if (config.comm_ctas == kHandedOver && !is_nccls(beside)) {
    return wrong("ctas", config.comm_ctas,
                 fmt::format("1 or more with signaled by {}; 0 (one CTA for each tile) is for "
                             "transports of NCCL's",
                             to_string(beside)));
  }
  return {};
}

Wait wait_of(const Config& config) {
  const auto* signaled = std::get_if<Signaled>(&config);
  return signaled != nullptr ? signaled->wait : Wait::driver;
}

// Whether a config fits a problem.

/// The limit of `Transport::peer_access` on a row block of what travels.
Expected<void> peers_can_move(const Problem& problem) {
  const std::int64_t columns = exchanged_columns(problem);
  if (problem.m / row_blocks(problem) * columns < kMostPeerElements) return {};
  return bad_input(
      fmt::format("m,{} = {},{}: transport peer_access needs row blocks of less than 2^34 elements",
                  traits_of(problem.op).exchanges_first ? "k" : "n", problem.m, columns));
}

Expected<void> means_something(const Problem& problem, const Sequential& config) {
  if (config.transport == Transport::peer_access) return peers_can_move(problem);
  return {};
}

Expected<void> means_something(const Problem& problem, const Chunked& config) {
  return has_rows_for(problem, config.chunks);
}

/// Whether `group_cuts` accepts the groups, decided with few divisions, because opening a database
/// asks it for every winner.
bool are_groups_of(const TileOrder& order, const std::vector<std::int64_t>& groups) {
  const std::int64_t panels = order.panels_per_block();
  const std::int64_t columns = order.columns();
  const std::int64_t last_panels = (panels - 1) % order.raster + 1;
  const std::int64_t total = panels * order.blocks * columns;
  const std::int64_t last = (panels - last_panels) * order.blocks * columns;
  const std::int64_t column = std::int64_t{order.raster} * order.blocks;
  const std::int64_t last_column = last_panels * order.blocks;
  std::int64_t end = 0;
  for (const std::int64_t tiles : groups) {
    if (tiles < 1 || tiles > total - end) return false;
    end += tiles;
    // Swizzle groups consist of whole columns. Only the columns of the last swizzle group may be
    // lower.
    const bool is_lower = end >= last;
    if ((is_lower ? end - last : end) % (is_lower ? last_column : column) != 0) return false;
  }
  return end == total;
}

Expected<void> means_something(const Problem& problem, const Signaled& config) {
  const TileOrder order = tile_order(problem, config.tile, config.raster);
  if (!are_groups_of(order, config.wave_groups)) {
    return error_of(group_cuts(order, config.wave_groups));
  }
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

Expected<void> means_something(const Problem& problem, const Waiting& config) {
  const ArrivalOrder order = arrival_order(problem, config.tile, config.raster);
  const auto cuts = arrival_cuts(order, config.wave_groups);
  if (!cuts) return error_of(cuts);
  if (cuts->size() > kMostRegions) {
    return bad_input(fmt::format("groups: {} groups: expected at most {} with {}", cuts->size(),
                                 kMostRegions, to_string(Strategy::waiting)));
  }
  if (config.transport == Transport::peer_access) return peers_can_move(problem);
  return {};
}

Expected<void> means_something(const Problem& problem, const PeerStore& config) {
  const TileOrder order = tile_order(problem, config.tile, config.raster);
  if (!are_groups_of(order, config.wave_groups)) {
    return error_of(group_cuts(order, config.wave_groups));
  }
  if (config.wave_groups.size() <= kMostRegions) return {};
  return bad_input(fmt::format("groups: {} groups: expected at most {} with {}",
                               config.wave_groups.size(), kMostRegions,
                               to_string(Strategy::peer_store)));
}

/// Error: a machine lacks a strategy or a transport; the reason follows where it is known.
tl::unexpected<Error> lacks(std::string_view what, std::string_view name,
                            const Capabilities& capabilities) {
  return bad_input(fmt::format("{} {}: not on this machine{}{}", what, name,
                               capabilities.apart.empty() ? "" : ": ", capabilities.apart));
}

Expected<void> can_run(const Config& config, Elements elements, const Capabilities& capabilities) {
  const Strategy strategy = strategy_of(config);
  if (!capabilities.strategies.contains(strategy)) {
    return lacks("strategy", to_string(strategy), capabilities);
  }
  if (!has_kernel(capabilities, strategy)) {
    return bad_input(
        fmt::format("strategy {}: needs a generated kernel, and there is none for this GPU",
                    to_string(strategy)));
  }
  const int ctas = comm_ctas(config);
  if (ctas >= capabilities.sms || ctas > capabilities.comm_ctas) {
    return wrong("ctas", ctas,
                 fmt::format("at most {}", std::min(capabilities.sms - 1, capabilities.comm_ctas)));
  }
  const Tile tile = tile_of(config);
  if (!tile.is_library() && capabilities.limits &&
      !is_feasible(tile, *capabilities.limits, elements)) {
    return bad_input(fmt::format("tile {} stages={} cluster={}: does not fit this GPU",
                                 to_string(tile), tile.stages, tile.cluster));
  }
  if (strategy == Strategy::peer_store && capabilities.limits &&
      !has_store_kernel(tile, *capabilities.limits)) {
    return bad_input(fmt::format("tile {}: peer_store has registers for {} elements at most",
                                 to_string(tile), capabilities.limits->largest_store_area));
  }
  return {};
}

Expected<void> can_carry(Transport transport, Collective collective,
                         const Capabilities& capabilities) {
  if (!serves(transport, collective)) {
    return bad_input(fmt::format("transport {}: does not carry {}", to_string(transport),
                                 to_string(collective)));
  }
  if (!capabilities.transports.contains(transport)) {
    return lacks("transport", to_string(transport), capabilities);
  }
  return {};
}

}  // namespace

Expected<void> check(const Config& config) {
  bool sound = true;
  each_field(config, [&](auto field, const auto& value, Presence) {
    sound = sound && in_range(field.info, value);
  });
  if (!sound) return out_of_range(config);
  const StrategyTraits& traits = traits_of(strategy_of(config));
  if (comm_ctas(config) < traits.least_ctas) {
    return wrong("ctas", comm_ctas(config),
                 fmt::format("{} or more with {}", traits.least_ctas, to_string(traits.strategy)));
  }
  const Transport transport = transport_of(config);
  if (!traits.transports.contains(transport)) {
    return bad_input(fmt::format("transport = {}: {} has no such transport", to_string(transport),
                                 to_string(traits.strategy)));
  }
  if (wait_of(config) == Wait::kernel && !traits.kernel_waits.contains(transport)) {
    return bad_input(fmt::format("wait = kernel: expected driver with {} by {}",
                                 to_string(traits.strategy), to_string(transport)));
  }
  return std::visit([](const auto& own) { return goes_together(own); }, config);
}

Expected<void> check(const Problem& problem, const Config& config) {
  if (auto legal = check(config); !legal) return legal;
  const StrategyTraits& traits = traits_of(strategy_of(config));
  if (!traits.ops.contains(problem.op)) {
    return bad_input(fmt::format("strategy {}: cannot run {}", to_string(traits.strategy),
                                 to_string(problem.op)));
  }
  return std::visit([&](const auto& own) { return means_something(problem, own); }, config);
}

Expected<void> check(const Problem& problem, const Config& config,
                     const Capabilities& capabilities) {
  if (auto legal = check(problem, config); !legal) return legal;
  if (problem.ranks > capabilities.ranks) {
    return wrong("ranks", problem.ranks, fmt::format("2 to {}", capabilities.ranks));
  }
  if (auto able = can_run(config, problem.elements, capabilities); !able) return able;
  // A copy of rows is no collective, so a machine needs none for it.
  const auto* waiting = std::get_if<Waiting>(&config);
  if (waiting != nullptr && waiting->transport == Transport::copy_engine) return {};
  const Collective collective = collective_of(problem.op);
  if (auto able = can_carry(transport_of(config), collective, capabilities); !able) return able;
  const auto* signaled = std::get_if<Signaled>(&config);
  if (signaled == nullptr) return {};
  return can_carry(signaled->transport.last, collective, capabilities);
}

}  // namespace overlaptune
