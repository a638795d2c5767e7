#pragma once
// The config of `waiting`: one GEMM that waits, group by group of tiles, for the rows that arrive.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/config/comm_ctas.hpp"
#include "core/config/field_types.hpp"
#include "core/config/tile.hpp"
#include "core/config/transport.hpp"

namespace overlaptune {

/// A generated GEMM that is there from the start. It begins with the rank's own rows; before the
/// tiles of each later wave group it waits until the group's rows have arrived.
struct Waiting {
  static constexpr std::string_view name = "waiting";

  Tile tile{};
  int swizzle = 0;  ///< row panels of one row block that are walked together, column by column
  /// CTAs that send rows; `kNoCtas` (copy engines do) or `kTilesPush`: none.
  int comm_ctas = kNoCtas;
  Transport transport = Transport::copy_engine;
  /// Chunks of the columns of A (`chunk_columns`). The first one of all groups comes, then the
  /// second one: so tiles of all groups, where they run at once, begin early.
  int k_chunks = 1;
  /// Tiles of each group, in the order of `ArrivalOrder`. The first group is the rank's own row
  /// block; no other one has rows of two row blocks.
  std::vector<std::int64_t> wave_groups{};
  friend auto operator<=>(const Waiting&, const Waiting&) = default;

  /// The fields, in the order of the canonical line (core/config/config_fields.hpp).
  template <class Self, class Visit>
  static constexpr void each_field(Self& config, Visit&& visit) {
    visit(config_field::Tile{}, config.tile, Presence::required);
    visit(config_field::Stages{}, config.tile.stages, Presence::required);
    visit(config_field::Cluster{}, config.tile.cluster, Presence::required);
    visit(config_field::Swizzle{}, config.swizzle, Presence::required);
    visit(config_field::CommCtas{}, config.comm_ctas, Presence::if_not_default);
    visit(config_field::Transport{}, config.transport, Presence::printed);
    visit(config_field::KChunks{}, config.k_chunks, Presence::if_not_default);
    visit(config_field::WaveGroups{}, config.wave_groups, Presence::required);
  }
};

/// Whether the tiles of the rank's own rows push them.
[[nodiscard]] inline bool tiles_push(Transport transport, int comm_ctas) {
  return transport == Transport::peer_access && comm_ctas == kTilesPush;
}
[[nodiscard]] inline bool tiles_push(const Waiting& config) {
  return tiles_push(config.transport, config.comm_ctas);
}

}  // namespace overlaptune
