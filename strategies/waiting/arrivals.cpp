#include "strategies/waiting/arrivals.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace overlaptune {

ArrivalOrder arrival_order(const Problem& problem, const Tile& tile, int swizzle) {
  ArrivalOrder order{.block = tile_order(problem, tile, swizzle),
                     .blocks = row_blocks(problem),
                     .row_bytes = problem.k * operand_bytes(problem.elements)};
  order.block.blocks = 1;
  return order;
}

Cut arrival_cut(const ArrivalOrder& order, int block, std::int64_t swizzles) {
  const TileOrder& own = order.block;
  const std::int64_t tiles = std::min(swizzles * order.swizzle_tiles(), own.tiles());
  const std::int64_t rows = std::min(swizzles * own.swizzle * own.block_m, own.block_rows);
  return {.tiles = block * own.tiles() + tiles,
          .bytes = {(block * own.block_rows + rows) * order.row_bytes}};
}

Expected<std::vector<Cut>> arrival_cuts(const ArrivalOrder& order,
                                        std::span<const std::int64_t> wave_groups) {
  const std::int64_t of_block = order.block.tiles();
  const std::int64_t swizzle = order.swizzle_tiles();
  std::vector<Cut> cuts;
  std::int64_t end = 0;
  for (const std::int64_t tiles : wave_groups) {
    if (tiles < 1 || tiles > order.tiles() - end) {
      return bad_input(fmt::format("wave_groups: group {} of {} tiles after {} of {}", cuts.size(),
                                   tiles, end, order.tiles()));
    }
    const std::int64_t block = end / of_block;
    const std::int64_t in_block = end + tiles - block * of_block;
    if (in_block > of_block || (block == 0 && in_block < of_block)) {
      return bad_input(
          fmt::format("wave_groups: group {} of {} tiles after {}: expected {}, the rest of a row "
                      "block of {}",
                      cuts.size(), tiles, end,
                      block == 0 ? fmt::to_string(of_block)
                                 : fmt::format("at most {}", of_block - (in_block - tiles)),
                      of_block));
    }
    if (in_block != of_block && in_block % swizzle != 0) {
      return bad_input(fmt::format(
          "wave_groups: group {} ends {} tiles into a row block: expected a multiple of {}, "
          "the tiles of {} row panels",
          cuts.size(), in_block, swizzle, order.block.swizzle));
    }
    cuts.push_back(arrival_cut(order, static_cast<int>(block), (in_block + swizzle - 1) / swizzle));
    end += tiles;
  }
  if (end != order.tiles()) {
    return bad_input(fmt::format("wave_groups: {} tiles in all, expected {}", end, order.tiles()));
  }
  return cuts;
}

std::int64_t chunk_columns(const Problem& problem, int chunks) {
  const std::int64_t step = block_k_of(problem.elements);
  const std::int64_t steps = (problem.k + step - 1) / step;
  return (steps + chunks - 1) / chunks * step;
}

int pushers_of_panel(const TileOrder& block) {
  constexpr std::int64_t kSms = 132;
  return static_cast<int>(
      std::clamp<std::int64_t>(kSms / block.panels_per_block(), 1, block.columns()));
}

int pushers_at_once(const TileOrder& block, int sms) {
  return static_cast<int>(
      std::min<std::int64_t>(block.panels_per_block() * pushers_of_panel(block), sms));
}

double part_that_pushes(const TileOrder& block) {
  return pushers_of_panel(block) / static_cast<double>(block.columns());
}

double bytes_of_pusher(const ArrivalOrder& order) {
  const std::int64_t panel = order.row_bytes * order.block.block_m;
  return static_cast<double>(panel * (order.blocks - 1)) / pushers_of_panel(order.block);
}

std::int64_t tiles_before_pushers(const TileOrder& block, int sms) {
  const std::int64_t last_rows = block.column_tiles(block.swizzle_groups() - 1);
  const std::int64_t behind = (block.columns() - pushers_of_panel(block)) * last_rows;
  return (block.tiles() - behind - 1) / sms * sms;
}

double needs_chunk_after(int chunk, int chunks, int ctas) {
  const double begin = static_cast<double>(chunk) / chunks;
  if (ctas == 1) return begin;
  if (2 * (chunk + 1) <= chunks) return 2 * begin;  // all of it is the first one's
  return std::max(0.0, 2 * begin - 1);              // both have a part in the middle one
}

std::vector<ArrivingRows> arriving_rows(const ArrivalOrder& order, std::span<const Cut> cuts) {
  std::vector<ArrivingRows> list;
  std::int64_t before = 0;
  for (const Cut& cut : cuts) {
    const std::int64_t after = cut.bytes.count / order.row_bytes;
    const std::int64_t block = before / order.block.block_rows;
    list.push_back({.block = static_cast<int>(block),
                    .first_row = before - block * order.block.block_rows,
                    .rows = after - before});
    before = after;
  }
  return list;
}

}  // namespace overlaptune
