#pragma once
// The config of `signaled`: one GEMM that signals as groups of tiles finish, and a collective for
// each group.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/config/comm_ctas.hpp"
#include "core/config/field_types.hpp"
#include "core/config/tile.hpp"
#include "strategies/signaled/group_transports.hpp"

namespace overlaptune {

/// A generated GEMM that signals as the tiles of each wave group are stored.
struct Signaled {
  static constexpr std::string_view name = "signaled";

  Tile tile{};
  int swizzle = 0;  ///< row panels of one row block that are walked together, column by column
  /// SMs that the GEMM leaves to the collectives after the first group; or `kHandedOver`.
  int comm_ctas = kHandedOver;
  GroupTransports transport{};
  Wait wait = Wait::driver;
  /// Tiles of each group, in the order of `TileOrder`; the sum is the tile count.
  std::vector<std::int64_t> wave_groups{};
  friend auto operator<=>(const Signaled&, const Signaled&) = default;

  /// Whether the GEMM stays on its SMs: one CTA on each, which computes tile after tile.
  [[nodiscard]] bool is_persistent() const { return comm_ctas != kHandedOver; }

  /// The fields, in the order of the canonical line (core/config/config_fields.hpp).
  template <class Self, class Visit>
  static constexpr void each_field(Self& config, Visit&& visit) {
    visit(config_field::Tile{}, config.tile, Presence::required);
    visit(config_field::Stages{}, config.tile.stages, Presence::required);
    visit(config_field::Cluster{}, config.tile.cluster, Presence::required);
    visit(config_field::Swizzle{}, config.swizzle, Presence::required);
    visit(config_field::CommCtas{}, config.comm_ctas, Presence::required);
    visit(config_field::Transport{}, config.transport, Presence::printed);
    visit(config_field::Wait{}, config.wait, Presence::if_not_default);
    visit(config_field::WaveGroups{}, config.wave_groups, Presence::required);
  }
};

}  // namespace overlaptune
