#include "core/config/check.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "core/config/config_fields.hpp"
#include "core/config/rules.hpp"
#include "core/config/strategies.hpp"

namespace overlaptune {
namespace {

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
template <HasNames Value>
bool in_range(const FieldInfo&, const Value& value) {
  return std::ranges::any_of(NamesOf<Value>::all,
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
template <HasNames Value>
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

/// Error: a machine lacks a strategy or a transport; the reason follows where it is known.
tl::unexpected<Error> lacks(std::string_view what, std::string_view name,
                            const Capabilities& capabilities) {
  return bad_input(fmt::format("{} {}: not on this machine{}{}", what, name,
                               capabilities.apart.empty() ? "" : ": ", capabilities.apart));
}

Expected<void> can_run(const Config& config, Elements elements, const Capabilities& capabilities) {
  if (operand_of(elements) == Dtype::e4m3 && capabilities.limits && !capabilities.limits->e4m3) {
    return bad_input(fmt::format(
        "dtype {}: this GPU, of compute capability {}, has no kernels for 8-bit operands: expected "
        "9.0, Hopper",
        to_string(elements), capabilities.limits->compute_capability));
  }
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
  const auto largest_area = traits_of(strategy).largest_area;
  if (largest_area != nullptr && capabilities.limits &&
      tile.block_m * tile.block_n > *capabilities.limits.*largest_area) {
    return bad_input(fmt::format("tile {}: {} has registers for {} elements at most",
                                 to_string(tile), to_string(strategy),
                                 *capabilities.limits.*largest_area));
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
  const auto goes_together = []<class Own>(const Own& own) -> Expected<void> {
    return TraitsOf<Own>::check(own);
  };
  return std::visit(goes_together, config);
}

Expected<void> check(const Problem& problem, const Config& config) {
  if (auto legal = check(config); !legal) return legal;
  const StrategyTraits& traits = traits_of(strategy_of(config));
  if (!traits.ops.contains(problem.op)) {
    return bad_input(fmt::format("strategy {}: cannot run {}", to_string(traits.strategy),
                                 to_string(problem.op)));
  }
  const auto fits = [&]<class Own>(const Own& own) { return TraitsOf<Own>::check(problem, own); };
  return std::visit(fits, config);
}

Expected<void> check(const Problem& problem, const Config& config,
                     const Capabilities& capabilities) {
  if (auto legal = check(problem, config); !legal) return legal;
  if (problem.ranks > capabilities.ranks) {
    return wrong("ranks", problem.ranks, fmt::format("2 to {}", capabilities.ranks));
  }
  if (auto able = can_run(config, problem.elements, capabilities); !able) return able;
  const Transport transport = transport_of(config);
  if (traits_of(strategy_of(config)).copies.contains(transport)) return {};
  const Collective collective = collective_of(problem.op);
  if (auto able = can_carry(transport, collective, capabilities); !able) return able;
  return can_carry(last_transport_of(config), collective, capabilities);
}

}  // namespace overlaptune
