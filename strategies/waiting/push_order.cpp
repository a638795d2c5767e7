#include "strategies/waiting/push_order.hpp"

#include <algorithm>
#include <cmath>

namespace overlaptune {
namespace {

/// The number of pushes up to the last one of a group.
std::int64_t pushes_until(const PushedGemm& gemm, std::size_t group) {
  const auto groups = static_cast<std::int64_t>(gemm.tiles_before.size());
  const auto parts = static_cast<std::int64_t>(group + 1);
  return gemm.pushes_a_group *
         (gemm.chunk_by_chunk ? (gemm.chunks - 1) * groups + parts : gemm.chunks * parts);
}

/// Whether the tiles of each group come behind all pushes of its rows.
bool holds(const PushOrder& order, const PushedGemm& gemm) {
  for (std::size_t group = 0; group < gemm.tiles_before.size(); ++group) {
    const std::int64_t last = pushes_until(gemm, group) - 1;
    if (order.position_of_push(last) > order.position_of_tile(gemm.tiles_before[group])) {
      return false;
    }
  }
  return true;
}

}  // namespace

PushOrder::Item PushOrder::at(std::int64_t position) const {
  if (position < first) return {.pushes = true, .number = position};
  const std::int64_t turn = (position - first) / (period_tiles + period_pushes);
  const std::int64_t extra =
      position - first - turn * (period_tiles + period_pushes) - period_tiles;
  const std::int64_t before = first + turn * period_pushes + std::max<std::int64_t>(extra, 0);
  if (extra >= 0 && before < pushes) return {.pushes = true, .number = before};
  return {.number = position - std::min(before, pushes)};
}

std::int64_t PushOrder::position_of_push(std::int64_t number) const {
  if (number < first) return number;
  const std::int64_t turn = (number - first) / period_pushes;
  return number + (turn + 1) * period_tiles;
}

std::int64_t PushOrder::position_of_tile(std::int64_t number) const {
  const std::int64_t before = first + number / period_tiles * period_pushes;
  return number + std::min(before, pushes);
}

std::int64_t PushOrder::homes(std::int64_t own_tiles) const {
  // Where some CTAs only push, the pushes behind the first tiles are theirs.
  return pushing > 0 ? first + std::min(period_tiles, own_tiles) : position_of_tile(own_tiles);
}

PushOrder push_order(const PushedGemm& gemm) {
  const std::int64_t pushes = pushes_until(gemm, gemm.tiles_before.size() - 1);
  const std::int64_t pushing = std::clamp<std::int64_t>(gemm.pushing, 1, gemm.ctas);
  const std::int64_t multiplying = std::max<std::int64_t>(1, gemm.ctas - pushing);
  // No more tiles at a time than the rank's own: behind them come pushes that others wait for.
  const std::int64_t tiles =
      std::max<std::int64_t>(1, std::min(multiplying, gemm.tiles_before.front()));
  const double in_their_time = static_cast<double>(pushing) * gemm.pushes_a_tile *
                               static_cast<double>(tiles) / static_cast<double>(multiplying);
  PushOrder order{.pushes = pushes,
                  .first = std::min(pushes, pushing),
                  .period_tiles = tiles,
                  .period_pushes = std::max<std::int64_t>(1, std::llround(in_their_time))};
  while (order.period_pushes < pushes && !holds(order, gemm)) order.period_pushes *= 2;
  order.period_pushes = std::min(order.period_pushes, std::max<std::int64_t>(1, pushes));
  if (!holds(order, gemm)) order.first = pushes;
  order.pushing = order.first <= pushing && pushing < gemm.ctas ? order.first : 0;
  return order;
}

}  // namespace overlaptune
