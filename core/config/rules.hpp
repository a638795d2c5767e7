#pragma once
// Rules that several strategies share (core/*_traits.cpp).

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
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

}  // namespace overlaptune
