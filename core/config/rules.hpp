#pragma once
// Rules that several strategies share (core/*_traits.cpp).

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/config/config.hpp"
#include "core/config/shares.hpp"
#include "core/config/tiling.hpp"
#include "core/config/transport.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// The error of a field whose value is a number.
[[nodiscard]] tl::unexpected<Error> wrong(std::string_view field, std::int64_t value,
                                          std::string_view expected);

/// Whether a config has as many CTAs as its transport needs: none by `copy_engine`, some by
/// `peer_access`.
[[nodiscard]] Expected<void> has_ctas_for(Transport transport, int ctas);

/// The limit of `Transport::peer_access` on a row block of what travels.
[[nodiscard]] Expected<void> peers_can_move(const Problem& problem);

/// The swizzle, or the row panels of a row block where these are fewer.
[[nodiscard]] int most_swizzle(const Problem& problem, const Tile& tile, int swizzle);

/// Whether `group_cuts` accepts the groups, decided with few divisions, because opening a database
/// asks it for every winner. Error: as `group_cuts`.
[[nodiscard]] Expected<void> are_groups_of(const TileOrder& order,
                                           const std::vector<std::int64_t>& groups);

/// The limit of a launch on wave groups, each of which is a region of C or has a signal.
[[nodiscard]] Expected<void> has_few_groups(std::size_t groups, std::string_view strategy);

/// The shares (core/config/strategy_traits.hpp) of a strategy whose wave groups are in `TileOrder`.
template <class Own>
struct GroupsInTileOrder {
  [[nodiscard]] static int divided(const Problem& /*problem*/) { return 1; }
  [[nodiscard]] static std::vector<Share> shares(const Problem& /*problem*/, const Own& config) {
    return shares_of(config.wave_groups);
  }
  static void fit(const Problem& problem, Own& config, std::span<const Share> shares, int sms) {
    config.swizzle = most_swizzle(problem, config.tile, config.swizzle);
    const TileOrder order = tile_order(problem, config.tile, config.swizzle);
    const WaveCuts cuts(order, std::max(1, sms - comm_ctas(config)), transport_of(config));
    config.wave_groups = nearest_groups(cuts, order.tiles(), shares);
  }
};

}  // namespace overlaptune
