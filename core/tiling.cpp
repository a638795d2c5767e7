#include "core/tiling.hpp"

#include <algorithm>

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
std::int64_t TileOrder::super_panels() const {
  return ceil_div(panels_per_block(), raster);
}
std::int64_t TileOrder::tiles() const {
  return panels_per_block() * blocks * columns();
}

std::int64_t TileOrder::column_tiles(std::int64_t index) const {
  return blocks * std::min<std::int64_t>(raster, panels_per_block() - index * raster);
}

std::int64_t TileOrder::rows(std::int64_t index) const {
  const std::int64_t whole = std::int64_t{raster} * block_m;
  return blocks * std::min(whole, block_rows - index * whole);
}

TileOrder tile_order(const Problem& problem, const Tile& tile, int raster) {
  const int blocks = row_blocks(problem);
  return {.block_rows = problem.m / blocks,
          .n = problem.n,
          .blocks = blocks,
          .block_m = tile.block_m,
          .block_n = tile.block_n,
          .raster = std::max(raster, 1)};
}

int ctas_per_tile(const TileOrder& order, const Tile& tile, std::int64_t k, int sms,
                  const GpuLimits& limits) {
  constexpr std::int64_t kLeastDepth = 1024;  // on H200, where the cost is made up for
  const bool can = limits.largest_cluster >= 2 && tile.cluster == 1 && tile.block_m != 192;
  return can && 2 * order.tiles() <= sms && k >= kLeastDepth ? 2 : 1;
}

Cut cut_at(const TileOrder& order, std::int64_t tiles) {
  tiles = std::clamp<std::int64_t>(tiles, 0, order.tiles());
  const std::int64_t whole_super = order.columns() * order.column_tiles(0);
  const std::int64_t index = tiles / whole_super;
  const std::int64_t rows_before =
      std::min<std::int64_t>(index * order.raster * order.block_m, order.block_rows) * order.blocks;
  Cut cut{.tiles = std::min(index * whole_super, order.tiles()),
          .bytes = {rows_before * order.n * kElementBytes},
          .contiguous = true};
  const std::int64_t rest = tiles - cut.tiles;
  if (rest <= 0) return cut;
  const std::int64_t columns = rest / order.column_tiles(index);
  const std::int64_t width = std::min(columns * order.block_n, order.n);
  cut.tiles += columns * order.column_tiles(index);
  cut.bytes.count += order.rows(index) * width * kElementBytes;
  cut.contiguous = columns == 0 || columns == order.columns();
  return cut;
}

std::vector<Cut> wave_cuts(const TileOrder& order, int sms, Transport transport) {
  const std::int64_t total = order.tiles();
  const std::int64_t whole_super = order.columns() * order.column_tiles(0);
  std::vector<Cut> cuts;
  cuts.reserve(static_cast<std::size_t>(ceil_div(total, sms)));
  std::int64_t last = 0;
  for (std::int64_t end = sms;; end += sms) {
    if (end >= total) {
      cuts.push_back(cut_at(order, total));
      return cuts;
    }
    const bool by_columns =
        transport == Transport::peer_access ||
        (transport != Transport::copy_engine &&
         (order.panels_per_block() == 1 ||
          (order.super_panels() > 1 && end / whole_super == order.super_panels() - 1)));
    const Cut cut = cut_at(order, by_columns ? end : end / whole_super * whole_super);
    if (cut.tiles > last) {
      last = cut.tiles;
      cuts.push_back(cut);
    }
  }
}

bool allows(Transport transport, const Cut& cut) {
  return transport != Transport::copy_engine || cut.contiguous;
}

Expected<std::vector<Cut>> group_cuts(const TileOrder& order, const Config& config) {
  std::vector<Cut> cuts;
  std::int64_t end = 0;
  for (const std::int64_t tiles : config.wave_groups) {
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

namespace {

/// What `group_cuts` accepts, found out with few divisions: opening a database asks for every
/// winner.
bool are_groups_of(const TileOrder& order, const std::vector<std::int64_t>& groups) {
  const std::int64_t panels = order.panels_per_block();
  const std::int64_t columns = order.columns();
  const std::int64_t last_panels = (panels - 1) % order.raster + 1;
  const std::int64_t total = panels * order.blocks * columns;
  const std::int64_t last = (panels - last_panels) * order.blocks * columns;
  const std::int64_t column = std::int64_t{order.raster} * order.blocks;
  const std::int64_t last_column = last_panels * order.blocks;
  std::int64_t end = 0;
  for (const std::int64_t tiles : groups) {
    if (tiles < 1 || tiles > total - end) return false;
    end += tiles;
    // Super panels are of whole columns: only those of the last may be lower.
    const bool is_lower = end >= last;
    if ((is_lower ? end - last : end) % (is_lower ? last_column : column) != 0) return false;
  }
  return end == total;
}

}  // namespace

Expected<void> fits(const Problem& problem, const Config& config) {
  const bool chunked = config.strategy == Strategy::chunked;
  const bool signaled = config.strategy == Strategy::signaled;
  if (auto sound = waits(config); !sound) return sound;
  if (!chunked && !signaled && config.strategy != Strategy::sequential) return {};
  if (config.comm_ctas == 0 && needs_ctas(config)) {
    return bad_input(fmt::format("comm_ctas = 0: expected 1 or more with {} by {}",
                                 to_string(config.strategy), to_string(config.transport)));
  }
  if (!signaled && !config.wave_groups.empty()) {
    return bad_input(fmt::format("wave_groups: expected none with {}", to_string(config.strategy)));
  }
  if (!chunked && config.chunks != 1) {
    return bad_input(
        fmt::format("chunks = {}: expected 1 with {}", config.chunks, to_string(config.strategy)));
  }
  if (chunked) {
    const auto rows = chunk_rows(problem, config.chunks);
    if (!rows) return tl::make_unexpected(rows.error());
  }
  if (signaled) {
    const Tile& tile = config.tile;
    if (std::min({tile.block_m, tile.block_n, tile.block_k}) < 1) {
      return bad_input("tile: expected positive sizes");
    }
    const TileOrder order = tile_order(problem, tile, config.raster);
    if (!are_groups_of(order, config.wave_groups)) {
      return tl::make_unexpected(group_cuts(order, config).error());
    }
  }
  return {};
}

std::vector<Region> regions(const TileOrder& order, const Cut& begin, const Cut& end) {
  const std::int64_t whole_super = order.columns() * order.column_tiles(0);
  const std::int64_t super_rows = std::int64_t{order.raster} * order.block_m;
  std::vector<Region> list;
  for (std::int64_t at = begin.tiles; at < end.tiles; at = list.back().end) {
    const std::int64_t index = at / whole_super;
    const std::int64_t first = index * super_rows;
    const std::int64_t column_tiles = order.column_tiles(index);
    const std::int64_t column = (at - index * whole_super) / column_tiles;
    const std::int64_t after =
        end.tiles == order.tiles() ? order.super_panels() : end.tiles / whole_super;
    if (column == 0 && after > index) {
      list.push_back({.end = std::min(after * whole_super, order.tiles()),
                      .first_row = first,
                      .rows = std::min(after * super_rows, order.block_rows) - first,
                      .first_column = 0,
                      .columns = order.n});
      continue;
    }
    const std::int64_t last = std::min(order.columns(), column + (end.tiles - at) / column_tiles);
    list.push_back({.end = at + (last - column) * column_tiles,
                    .first_row = first,
                    .rows = std::min(super_rows, order.block_rows - first),
                    .first_column = column * order.block_n,
                    .columns = std::min(last * order.block_n, order.n) - column * order.block_n});
  }
  return list;
}

std::optional<TiledKernel> kernel_of(const Problem& problem, const Config& config) {
  if (config.tile.is_library()) return std::nullopt;
  TiledKernel kernel{.tile = config.tile, .dtype = problem.dtype, .regions = 0};
  const TileOrder order = tile_order(problem, config.tile, config.raster);
  const auto cuts = group_cuts(order, config);
  if (!cuts) return std::nullopt;
  Cut before;
  for (const Cut& cut : *cuts) {
    kernel.regions += static_cast<int>(regions(order, before, cut).size());
    before = cut;
  }
  return kernel;
}

int received_divisor(const Problem& problem) {
  return problem.op == Op::gemm_reduce_scatter ? problem.ranks : 1;
}

Bytes reorder_bytes(const Problem& problem, const Cut& begin, const Cut& end) {
  if (begin.contiguous && end.contiguous) return {0};
  return {(end.bytes - begin.bytes).count / received_divisor(problem)};
}

int most_chunks(const Problem& problem) {
  constexpr std::int64_t kMost = 32;
  const std::int64_t rows = problem.m / row_blocks(problem);
  return static_cast<int>(std::clamp<std::int64_t>(rows / kChunkRowUnit, 1, kMost));
}

Expected<std::vector<std::int64_t>> chunk_rows(const Problem& problem, int chunks) {
  const std::int64_t rows = problem.m / row_blocks(problem);
  if (chunks < 1 || chunks > rows) {
    return bad_input(
        fmt::format("chunks = {}: expected 1 to {} (the rows of a row block)", chunks, rows));
  }
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
