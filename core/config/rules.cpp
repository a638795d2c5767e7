#include "core/config/rules.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/config/check.hpp"
#include "core/config/comm_ctas.hpp"

namespace overlaptune {
namespace {

/// Whether the groups end at cuts of the order.
bool are_cut_well(const TileOrder& order, const std::vector<std::int64_t>& groups) {
  const std::int64_t panels = order.panels_per_block();
  const std::int64_t columns = order.columns();
  const std::int64_t last_panels = (panels - 1) % order.swizzle + 1;
  const std::int64_t total = panels * order.blocks * columns;
  const std::int64_t last = (panels - last_panels) * order.blocks * columns;
  const std::int64_t column = std::int64_t{order.swizzle} * order.blocks;
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

}  // namespace

tl::unexpected<Error> wrong(std::string_view field, std::int64_t value, std::string_view expected) {
  return bad_input(fmt::format("{} = {}: expected {}", field, value, expected));
}

Expected<void> has_ctas_for(Transport transport, int ctas) {
  if (transport == Transport::copy_engine && ctas != kNoCtas) {
    return wrong("ctas", ctas, "0 by copy_engine");
  }
  if (transport == Transport::peer_access && ctas == kNoCtas) {
    return wrong("ctas", ctas, "1 or more by peer_access");
  }
  return {};
}

Expected<void> peers_can_move(const Problem& problem) {
  const std::int64_t columns = exchanged_columns(problem);
  if (problem.m / row_blocks(problem) * columns < kMostPeerElements) return {};
  return bad_input(
      fmt::format("m,{} = {},{}: transport peer_access needs row blocks of less than 2^34 elements",
                  traits_of(problem.op).exchanges_first ? "k" : "n", problem.m, columns));
}

int most_swizzle(const Problem& problem, const Tile& tile, int swizzle) {
  const std::int64_t panels = tile_order(problem, tile, 1).panels_per_block();
  return static_cast<int>(std::min<std::int64_t>(swizzle, panels));
}

Expected<void> are_groups_of(const TileOrder& order, const std::vector<std::int64_t>& groups) {
  if (are_cut_well(order, groups)) return {};
  return error_of(group_cuts(order, groups));
}

Expected<void> has_few_groups(std::size_t groups, std::string_view strategy) {
  if (groups <= kMostRegions) return {};
  return bad_input(fmt::format("groups: {} groups: expected at most {} with {}", groups,
                               kMostRegions, strategy));
}

}  // namespace overlaptune
