#pragma once
// The config of `peer_store`: one GEMM that stores each tile into the memory of the rank that owns
// it.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/config/field_types.hpp"
#include "core/config/tile.hpp"

namespace overlaptune {

/// A generated GEMM on all SMs, without a collective beside it. Each tile has an owner among the
/// ranks (strategies/peer_store/store_order.hpp). A rank stores the tiles of the others into their
/// memory. To its own tiles it adds what the others have stored for it.
struct PeerStore {
  static constexpr std::string_view name = "peer_store";

  Tile tile{};
  int swizzle = 0;  ///< row panels of one row block that are walked together, column by column
  /// Tiles of each group, in the order of `TileOrder`. Inside a group, a rank computes the tiles of
  /// the others first.
  std::vector<std::int64_t> wave_groups{};
  friend auto operator<=>(const PeerStore&, const PeerStore&) = default;

  /// The fields, in the order of the canonical line (core/config/config_fields.hpp).
  template <class Self, class Visit>
  static constexpr void each_field(Self& config, Visit&& visit) {
    visit(config_field::Tile{}, config.tile, Presence::required);
    visit(config_field::Stages{}, config.tile.stages, Presence::required);
    visit(config_field::Cluster{}, config.tile.cluster, Presence::required);
    visit(config_field::Swizzle{}, config.swizzle, Presence::required);
    visit(config_field::WaveGroups{}, config.wave_groups, Presence::required);
  }
};

}  // namespace overlaptune
