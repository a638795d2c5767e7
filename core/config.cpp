#include "core/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune {

std::string to_string(const Tile& tile) {
  if (tile.is_library()) return "library";
  return fmt::format("{}x{}x{}", tile.block_m, tile.block_n, tile.block_k);
}

Expected<void> waits(const Config& config) {
  const bool by_kernel =
      config.strategy == Strategy::signaled && config.transport != Transport::copy_engine;
  if (by_kernel || config.wait == Wait::driver) return {};
  return bad_input(fmt::format("wait = {}: expected driver with {} by {}", to_string(config.wait),
                               to_string(config.strategy), to_string(config.transport)));
}

std::string to_string(const Config& config) {
  std::string line{to_string(config.strategy)};
  if (!config.tile.is_library()) {
    line += fmt::format(" tile={} stages={} cluster={} raster={}", to_string(config.tile),
                        config.tile.stages, config.tile.cluster, config.raster);
  }
  line += fmt::format(" ctas={} transport={}", config.comm_ctas, to_string(config.transport));
  if (config.chunks != 1) line += fmt::format(" chunks={}", config.chunks);
  if (config.wait != Wait::driver) line += fmt::format(" wait={}", to_string(config.wait));
  if (!config.wave_groups.empty()) {
    line += fmt::format(" groups={}", fmt::join(config.wave_groups, ","));
  }
  return line;
}

}  // namespace overlaptune
