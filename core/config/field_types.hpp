#pragma once
// The fields that configs may have: their names and ranges, each once.
//
// To add a field, write its type below, and add it to `AllFields`. Each strategy that has it calls
// `visit` for it in its own `each_field` (core/*_config.hpp). A new kind of value also needs a
// printer (core/config/config.cpp) and a reader (core/config/parse_config.cpp).

#include <string_view>
#include <tuple>

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
struct Swizzle {
  static constexpr FieldInfo info{"swizzle", "swizzle", 1, 1 << 30};
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
struct KChunks {
  static constexpr FieldInfo info{"k_chunks", "k_chunks", 1, 1 << 30, "1"};
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
                             config_field::Swizzle, config_field::CommCtas,
                             config_field::WaveGroups, config_field::Chunks, config_field::KChunks,
                             config_field::Transport, config_field::Wait>;

/// Calls `visit(field)` for each of `AllFields`.
template <class Visit>
constexpr void each_field_type(Visit&& visit) {
  std::apply([&](auto... fields) { (visit(fields), ...); }, AllFields{});
}

}  // namespace overlaptune
