#pragma once
// A config: how to run a problem. Each strategy has a struct of its own, with the fields that mean
// something for it (core/*_config.hpp). The variant `Config` is the only list of strategies: all
// tables are made from it. core/config/check.hpp says which configs are legal.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/names.hpp"
#include "core/config/tile.hpp"
#include "core/config/transport.hpp"
#include "strategies/configs.hpp"

namespace overlaptune {

/// How to run a problem. The first alternative is the baseline, and the default.
using Config = std::variant<Sequential, Chunked, Signaled, Waiting, PeerStore>;

/// A strategy: the number of its alternative in `Config`.
enum class Strategy {};

/// An array of what `make(std::type_identity<Own>{})` returns for each alternative `Own` of
/// `Config`, in their order.
template <class Make>
[[nodiscard]] constexpr auto each_strategy(Make&& make) {
  return [&]<class... Own>(std::type_identity<std::variant<Own...>>) {
    return std::array{make(std::type_identity<Own>{})...};
  }(std::type_identity<Config>{});
}

/// Whether a type is the config of one strategy.
template <class Own>
concept StrategyConfig = []<class... Each>(std::type_identity<std::variant<Each...>>) {
  return (std::is_same_v<Own, Each> || ...);
}(std::type_identity<Config>{});

/// The strategy whose configs have this type.
template <StrategyConfig Own>
[[nodiscard]] constexpr Strategy strategy_of() {
  constexpr auto kIsOwn =
      each_strategy([]<class Each>(std::type_identity<Each>) { return std::is_same_v<Own, Each>; });
  std::size_t index = 0;
  while (!kIsOwn[index]) ++index;
  return static_cast<Strategy>(index);
}

[[nodiscard]] inline Strategy strategy_of(const Config& config) {
  return static_cast<Strategy>(config.index());
}

template <>
struct NamesOf<Strategy> {
  static constexpr std::string_view what = "strategy";
  static constexpr auto all = each_strategy([]<class Own>(std::type_identity<Own>) {
    return Named<Strategy>{strategy_of<Own>(), Own::name};
  });
};

/// The strategy that all others are compared with.
inline constexpr Strategy kBaseline{};

/// Upper limit of the tiles of all wave groups together, so that their sum cannot overflow.
inline constexpr std::int64_t kMostTiles = std::int64_t{1} << 62;

/// The config of a strategy with every field at its default.
[[nodiscard]] Config default_config(Strategy strategy);

/// The `comm_ctas` of the config, with the meaning that its strategy gives it; 0 where its strategy
/// has none.
[[nodiscard]] inline int comm_ctas(const Config& config) {
  const auto own_ctas = [](const auto& own) {
    if constexpr (requires { own.comm_ctas; }) return own.comm_ctas;
    return 0;
  };
  return std::visit(own_ctas, config);
}

/// Transport of the collectives while a GEMM may run beside them. A strategy without this field
/// reaches the peers' memory itself.
[[nodiscard]] inline Transport transport_of(const Config& config) {
  const auto own_transport = [](const auto& own) {
    if constexpr (requires { own.transport.beside_gemm; }) {
      return own.transport.beside_gemm;
    } else if constexpr (requires { own.transport; }) {
      return own.transport;
    } else {
      return Transport::peer_access;
    }
  };
  return std::visit(own_transport, config);
}

/// Transport of the last wave group, where it has one of its own; else as `transport_of`.
[[nodiscard]] inline Transport last_transport_of(const Config& config) {
  const auto own_transport = [&](const auto& own) {
    if constexpr (requires { own.transport.last; }) return own.transport.last;
    return transport_of(config);
  };
  return std::visit(own_transport, config);
}

/// The tile of the config's GEMM; all zero where the strategy uses a library GEMM.
[[nodiscard]] inline Tile tile_of(const Config& config) {
  const auto own_tile = [](const auto& own) {
    if constexpr (requires { own.tile; }) return own.tile;
    return Tile{};
  };
  return std::visit(own_tile, config);
}

/// Whether the tiles of a rank's own rows push them (`kTilesPush`).
[[nodiscard]] inline bool tiles_push(const Config& config) {
  const auto* const waiting = std::get_if<Waiting>(&config);
  return waiting != nullptr && tiles_push(*waiting);
}

/// The wave groups of a config; null where its strategy has none.
[[nodiscard]] inline std::vector<std::int64_t>* wave_groups_of(Config& config) {
  const auto own_groups = [](auto& own) -> std::vector<std::int64_t>* {
    if constexpr (requires { own.wave_groups; }) return &own.wave_groups;
    return nullptr;
  };
  return std::visit(own_groups, config);
}
[[nodiscard]] inline std::span<const std::int64_t> wave_groups_of(const Config& config) {
  const auto own_groups = [](const auto& own) -> std::span<const std::int64_t> {
    if constexpr (requires { own.wave_groups; }) return own.wave_groups;
    return {};
  };
  return std::visit(own_groups, config);
}

/// The *canonical line* of a config: its strategy and the fields of this strategy. Equal configs
/// have equal lines, different configs have different ones: `signaled tile=128x256x64 stages=4
/// cluster=2 swizzle=8 ctas=16 transport=ring groups=928,96`. Databases, exports and messages
/// between processes have this form.
[[nodiscard]] std::string to_string(const Config& config);

/// Reads a config as people write it, or its canonical line: the strategy and `name=value` fields
/// in any order, separated by blanks. A field that is left out keeps its default, unless the
/// strategy needs it. The result passes `check(config)`. Error: the field and what is allowed.
[[nodiscard]] Expected<Config> parse_config(std::string_view text);

/// Reads a canonical line, and returns false for any other text, so that equal configs are equal
/// texts. It does not check whether the fields go together. It allocates memory for wave groups
/// only, and none where `config` has room for them, because a database may have many thousands of
/// lines.
[[nodiscard]] bool read_canonical(std::string_view line, Config& config);

/// The reason why `read_canonical` refuses a line, as one line of text.
[[nodiscard]] std::string why_not_canonical(std::string_view line);

}  // namespace overlaptune
