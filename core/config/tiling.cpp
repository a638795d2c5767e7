#include "core/config/tiling.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace overlaptune {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

std::int64_t TileOrder::panels_per_block() const {
  return ceil_div(block_rows, block_m);
}
std::int64_t TileOrder::columns() const {
  return ceil_div(n, block_n);
}
std::int64_t TileOrder::swizzle_groups() const {
  return ceil_div(panels_per_block(), swizzle);
}
std::int64_t TileOrder::tiles() const {
  return panels_per_block() * blocks * columns();
}

std::int64_t TileOrder::column_tiles(std::int64_t index) const {
  return blocks * std::min<std::int64_t>(swizzle, panels_per_block() - index * swizzle);
}

std::int64_t TileOrder::rows(std::int64_t index) const {
  const std::int64_t whole = std::int64_t{swizzle} * block_m;
  return blocks * std::min(whole, block_rows - index * whole);
}

TileOrder tile_order(const Problem& problem, const Tile& tile, int swizzle) {
  const int blocks = row_blocks(problem);
  return {.block_rows = problem.m / blocks,
          .n = problem.n,
          .blocks = blocks,
          .block_m = tile.block_m,
          .block_n = tile.block_n,
          .swizzle = std::max(swizzle, 1),
          .elements = problem.elements};
}

TileOrder walked_together(TileOrder order) {
  if (order.block_rows % order.block_m == 0) {
    order.block_rows *= order.blocks;
    order.blocks = 1;
  } else {
    order.swizzle = std::max(1, order.swizzle / order.blocks);
  }
  return order;
}

int ctas_per_tile(const TileOrder& order, const Tile& tile, std::int64_t k, int sms,
                  const GpuLimits& limits) {
  const bool can =
      limits.largest_cluster >= 2 && tile.cluster == 1 && tile.down() != limits.unshared_down;
  return can && 2 * order.tiles() <= sms && k >= limits.least_shared_k ? 2 : 1;
}

Cut cut_at(const TileOrder& order, std::int64_t tiles) {
  tiles = std::clamp<std::int64_t>(tiles, 0, order.tiles());
  const std::int64_t whole_swizzle = order.columns() * order.column_tiles(0);
  const std::int64_t index = tiles / whole_swizzle;
  const std::int64_t rows_before =
      std::min<std::int64_t>(index * order.swizzle * order.block_m, order.block_rows) *
      order.blocks;
  Cut cut{.tiles = std::min(index * whole_swizzle, order.tiles()),
          .bytes = {rows_before * order.n * result_bytes(order.elements)},
          .contiguous = true};
  const std::int64_t rest = tiles - cut.tiles;
  if (rest <= 0) return cut;
  const std::int64_t columns = rest / order.column_tiles(index);
  const std::int64_t width = std::min(columns * order.block_n, order.n);
  cut.tiles += columns * order.column_tiles(index);
  cut.bytes.count += order.rows(index) * width * result_bytes(order.elements);
  cut.contiguous = columns == 0 || columns == order.columns();
  return cut;
}

WaveCuts::WaveCuts(const TileOrder& order, int sms, Transport transport)
    : order_(order),
      sms_(sms),
      waves_(ceil_div(order.tiles(), sms)),
      whole_swizzle_(order.columns() * order.column_tiles(0)) {
  if (transport == Transport::peer_access ||
      (transport != Transport::copy_engine && order.panels_per_block() == 1)) {
    all_from_ = 1;
  } else if (transport != Transport::copy_engine && order.swizzle_groups() > 1) {
    all_from_ = ceil_div((order.swizzle_groups() - 1) * whole_swizzle_, sms);
  } else {
    all_from_ = waves_;
  }
  before_ = whole_swizzle_ > sms ? (all_from_ - 1) * sms / whole_swizzle_ : all_from_ - 1;
}

Cut WaveCuts::operator[](std::int64_t number) const {
  if (number > before_) return cut_at(order_, (all_from_ + number - before_ - 1) * sms_);
  if (whole_swizzle_ > sms_) return cut_at(order_, number * whole_swizzle_);
  return cut_at(order_, number * sms_ / whole_swizzle_ * whole_swizzle_);
}

std::vector<Cut> WaveCuts::at(std::vector<std::int64_t>& numbers) const {
  std::vector<Cut> cuts;
  cuts.reserve(numbers.size());
  std::erase_if(numbers, [&](std::int64_t number) {
    const Cut cut = (*this)[number];
    const bool is_new = cut.tiles > (cuts.empty() ? 0 : cuts.back().tiles);
    if (is_new) cuts.push_back(cut);
    return !is_new;
  });
  return cuts;
}

std::vector<Cut> wave_cuts(const TileOrder& order, int sms, Transport transport) {
  const WaveCuts all(order, sms, transport);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(all.count()));
  std::iota(numbers.begin(), numbers.end(), std::int64_t{1});
  return all.at(numbers);
}

bool allows(Transport transport, const Cut& cut) {
  return transport != Transport::copy_engine || cut.contiguous;
}

Expected<std::vector<Cut>> group_cuts(const TileOrder& order,
                                      std::span<const std::int64_t> wave_groups) {
  std::vector<Cut> cuts;
  std::int64_t end = 0;
  for (const std::int64_t tiles : wave_groups) {
    if (tiles < 1 || tiles > order.tiles() - end) {
      return bad_input(fmt::format("wave_groups: group {} of {} tiles after {} of {}", cuts.size(),
                                   tiles, end, order.tiles()));
    }
    end += tiles;
    cuts.push_back(cut_at(order, end));
    if (cuts.back().tiles != end) {
      return bad_input(
          fmt::format("wave_groups: group {} ends after tile {}, within a column; the "
                      "column ends after {} tiles",
                      cuts.size() - 1, end, cuts.back().tiles));
    }
  }
  if (end != order.tiles()) {
    return bad_input(fmt::format("wave_groups: {} tiles in all, expected {}", end, order.tiles()));
  }
  return cuts;
}

std::vector<Region> regions(const TileOrder& order, const Cut& begin, const Cut& end) {
  const std::int64_t whole_swizzle = order.columns() * order.column_tiles(0);
  const std::int64_t swizzle_rows = std::int64_t{order.swizzle} * order.block_m;
  std::vector<Region> list;
  for (std::int64_t at = begin.tiles; at < end.tiles; at = list.back().end) {
    const std::int64_t index = at / whole_swizzle;
    const std::int64_t first = index * swizzle_rows;
    const std::int64_t column_tiles = order.column_tiles(index);
    const std::int64_t column = (at - index * whole_swizzle) / column_tiles;
    const std::int64_t after =
        end.tiles == order.tiles() ? order.swizzle_groups() : end.tiles / whole_swizzle;
    if (column == 0 && after > index) {
      list.push_back({.end = std::min(after * whole_swizzle, order.tiles()),
                      .first_row = first,
                      .rows = std::min(after * swizzle_rows, order.block_rows) - first,
                      .first_column = 0,
                      .columns = order.n});
      continue;
    }
    const std::int64_t last = std::min(order.columns(), column + (end.tiles - at) / column_tiles);
    list.push_back({.end = at + (last - column) * column_tiles,
                    .first_row = first,
                    .rows = std::min(swizzle_rows, order.block_rows - first),
                    .first_column = column * order.block_n,
                    .columns = std::min(last * order.block_n, order.n) - column * order.block_n});
  }
  return list;
}

std::size_t region_count(const TileOrder& order, std::span<const Cut> cuts) {
  std::size_t count = 0;
  Cut before;
  for (const Cut& cut : cuts) {
    count += regions(order, before, cut).size();
    before = cut;
  }
  return count;
}

int received_divisor(const Problem& problem) {
  return traits_of(problem.op).c_is_block ? problem.ranks : 1;
}

Bytes reorder_bytes(const Problem& problem, const Cut& begin, const Cut& end) {
  if (begin.contiguous && end.contiguous) return {0};
  return {(end.bytes - begin.bytes).count / received_divisor(problem)};
}

int most_chunks(const Problem& problem) {
  constexpr std::int64_t kMostChunks = 32;
  const std::int64_t rows = problem.m / row_blocks(problem);
  return static_cast<int>(std::clamp<std::int64_t>(rows / kChunkRowUnit, 1, kMostChunks));
}

Expected<void> has_rows_for(const Problem& problem, int chunks) {
  const std::int64_t rows = problem.m / row_blocks(problem);
  if (chunks >= 1 && chunks <= rows) return {};
  return bad_input(
      fmt::format("chunks = {}: expected 1 to {} (the rows of a row block)", chunks, rows));
}

Expected<std::vector<std::int64_t>> chunk_rows(const Problem& problem, int chunks) {
  if (const auto good = has_rows_for(problem, chunks); !good) return error_of(good);
  const std::int64_t rows = problem.m / row_blocks(problem);
  std::int64_t unit = kChunkRowUnit;
  while (rows / unit < chunks) unit /= 2;
  const std::int64_t units = rows / unit;
  std::vector<std::int64_t> parts;
  parts.reserve(static_cast<std::size_t>(chunks));
  for (std::int64_t i = 0; i < chunks; ++i) {
    parts.push_back(((i + 1) * units / chunks - i * units / chunks) * unit);
  }
  parts.back() += rows % unit;
  return parts;
}

}  // namespace overlaptune
