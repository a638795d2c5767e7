#include "core/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune {

std::string to_string(const Tile& tile) {
  if (tile.is_library()) return "library";
  return fmt::format("{}x{}x{}", tile.block_m, tile.block_n, tile.block_k);
}

std::string to_string(const Config& config) {
  std::string line{to_string(config.strategy)};
  if (!config.tile.is_library()) {
    line += fmt::format(" tile={} stages={} cluster={} raster={}", to_string(config.tile),
                        config.tile.stages, config.tile.cluster, config.raster);
  }
  line += fmt::format(" ctas={} transport={}", config.comm_ctas, to_string(config.transport));
  if (config.chunks != 1) line += fmt::format(" chunks={}", config.chunks);
  if (!config.wave_groups.empty()) {
    line += fmt::format(" groups={}", fmt::join(config.wave_groups, ","));
  }
  return line;
}

}  // namespace overlaptune
