#pragma once
// The fields of configs, described once: their names, their ranges, and the strategies that have
// them. The canonical line, its parser, range checks, reports and the C interface follow from this
// file.
//
// To add a field, write its type below, add it to `AllFields`, and add a line to `each_field` of
// each strategy that has it. A new kind of value also needs a printer (core/config.cpp) and a
// reader (core/parse_config.cpp).

#include <string_view>
#include <tuple>
#include <type_traits>

#include "core/config.hpp"

namespace overlaptune {

/// The properties of a field that are the same for every strategy.
struct FieldInfo {
  std::string_view name;    ///< name in the canonical line: "ctas"
  std::string_view column;  ///< name in tables and JSON: "comm_ctas"
  int least = 0;            ///< smallest value of a number, or of each side of a tile
  int most = 0;
  std::string_view none{};  ///< the value that a line may give for a strategy without the field
};

/// How a strategy has a field.
enum class Presence {
  required,       ///< must be given in every line
  printed,        ///< has a default; every canonical line has it all the same
  if_not_default  ///< a canonical line has it only where it is not the default
};

// One type for each field, so that code which differs from field to field can be overloaded.
namespace config_field {

struct Tile {
  static constexpr FieldInfo info{"tile", "tile", 1, 65536, "library"};
};
struct Stages {
  static constexpr FieldInfo info{"stages", "stages", 1, 64};
};
struct Cluster {
  static constexpr FieldInfo info{"cluster", "cluster", 1, 2};
};
struct Raster {
  static constexpr FieldInfo info{"raster", "raster", 1, 1 << 30};
};
struct CommCtas {
  static constexpr FieldInfo info{"ctas", "comm_ctas", 0, 65535, "0"};
};
struct Transport {
  static constexpr FieldInfo info{"transport", "transport"};
};
struct Chunks {
  static constexpr FieldInfo info{"chunks", "chunks", 1, 1 << 30, "1"};
};
struct Wait {
  static constexpr FieldInfo info{"wait", "wait", 0, 0, "driver"};
};
struct WaveGroups {
  static constexpr FieldInfo info{"groups", "wave_groups"};
};

}  // namespace config_field

/// Every field, in the order of the columns of tables and JSON.
using AllFields = std::tuple<config_field::Tile, config_field::Stages, config_field::Cluster,
                             config_field::Raster, config_field::CommCtas, config_field::WaveGroups,
                             config_field::Chunks, config_field::Transport, config_field::Wait>;

/// Calls `visit(field)` for each of `AllFields`.
template <class Visit>
constexpr void each_field_type(Visit&& visit) {
  std::apply([&](auto... fields) { (visit(fields), ...); }, AllFields{});
}

// Each overload calls `visit(field, value, presence)` for each field of a strategy's value, in the
// order of the canonical line. `Self` may be const.

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, Sequential>
constexpr void each_field(Self& config, Visit&& visit) {
  visit(config_field::CommCtas{}, config.comm_ctas, Presence::printed);
  visit(config_field::Transport{}, config.transport, Presence::printed);
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, Chunked>
constexpr void each_field(Self& config, Visit&& visit) {
  visit(config_field::CommCtas{}, config.comm_ctas, Presence::required);
  visit(config_field::Transport{}, config.transport, Presence::printed);
  visit(config_field::Chunks{}, config.chunks, Presence::if_not_default);
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, Signaled>
constexpr void each_field(Self& config, Visit&& visit) {
  visit(config_field::Tile{}, config.tile, Presence::required);
  visit(config_field::Stages{}, config.tile.stages, Presence::required);
  visit(config_field::Cluster{}, config.tile.cluster, Presence::required);
  visit(config_field::Raster{}, config.raster, Presence::required);
  visit(config_field::CommCtas{}, config.comm_ctas, Presence::required);
  visit(config_field::Transport{}, config.transport, Presence::printed);
  visit(config_field::Wait{}, config.wait, Presence::if_not_default);
  visit(config_field::WaveGroups{}, config.wave_groups, Presence::required);
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, Waiting>
constexpr void each_field(Self& config, Visit&& visit) {
  visit(config_field::Tile{}, config.tile, Presence::required);
  visit(config_field::Stages{}, config.tile.stages, Presence::required);
  visit(config_field::Cluster{}, config.tile.cluster, Presence::required);
  visit(config_field::Raster{}, config.raster, Presence::required);
  visit(config_field::CommCtas{}, config.comm_ctas, Presence::if_not_default);
  visit(config_field::Transport{}, config.transport, Presence::printed);
  visit(config_field::WaveGroups{}, config.wave_groups, Presence::required);
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, PeerStore>
constexpr void each_field(Self& config, Visit&& visit) {
  visit(config_field::Tile{}, config.tile, Presence::required);
  visit(config_field::Stages{}, config.tile.stages, Presence::required);
  visit(config_field::Cluster{}, config.tile.cluster, Presence::required);
  visit(config_field::Raster{}, config.raster, Presence::required);
  visit(config_field::WaveGroups{}, config.wave_groups, Presence::required);
}

/// The same for a config of any strategy.
template <class AnyConfig, class Visit>
requires std::is_same_v<std::remove_const_t<AnyConfig>, Config>
constexpr void each_field(AnyConfig& config, Visit&& visit) {
  std::visit([&](auto& own) { each_field(own, visit); }, config);
}

/// Calls `visit(value)` with the value of one field, if the config (or strategy's value) has it.
template <class Field, class AnyConfig, class Visit>
void with_field(AnyConfig& config, Visit&& visit) {
  each_field(config, [&](auto each, auto& value, Presence) {
    if constexpr (std::is_same_v<decltype(each), Field>) {
      visit(value);
    } else {
      (void)value;
    }
  });
}

}  // namespace overlaptune
