#include "db/json_config.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/fields.hpp"

namespace overlaptune::db {
namespace {

/// A config as documents of format 1 have it, field by field, as a line that people could write.
/// Fields that a strategy does not have are 0, empty, 1 chunk, or absent.
std::string line_of_format_1(const JsonReader& at) {
  std::string line{to_string(at["strategy"].name<Strategy>())};
  const auto add = [&](std::string_view name, int value, int none) {
    if (value != none) line += fmt::format(" {}={}", name, value);
  };
  const Tile tile = read_as<Tile>(Object(kTileFields), at);
  if (std::max({tile.block_m, tile.block_n, tile.block_k}) > 0) {
    line += fmt::format(" tile={}x{}x{}", tile.block_m, tile.block_n, tile.block_k);
  }
  add("stages", tile.stages, 0);
  add("cluster", tile.cluster, 0);
  add("raster", at["raster"].small(), 0);
  add("chunks", at["chunks"].small(), 1);
  line += fmt::format(" ctas={} transport={}", at["comm_ctas"].small(),
                      to_string(at["transport"].name<GroupTransports>()));
  if (at.has("wait")) line += fmt::format(" wait={}", to_string(at["wait"].name<Wait>()));
  const auto groups =
      at["wave_groups"].list([](const JsonReader& group) { return group.integer(1); });
  if (!groups.empty()) line += fmt::format(" groups={}", fmt::join(groups, ","));
  return line;
}

}  // namespace

void ConfigForm::read(const JsonReader& at, Config& config) {
  if (at.is_object()) {
    auto parsed = parse_config(line_of_format_1(at));
    if (!parsed) at.fail(parsed.error().message);
    config = std::move(*parsed);
    return;
  }
  const std::string line = at.text();
  if (!read_canonical(line, config)) at.fail(why_not_canonical(line));
}

}  // namespace overlaptune::db
