#include "model/draw.hpp"

#include "core/gpu.hpp"

namespace overlaptune {
namespace {

std::vector<std::vector<Tile>> tiles_by_shape(const Platform& platform, Dtype dtype) {
  std::vector<std::vector<Tile>> shapes;
  for (const Tile& tile : feasible_tiles(gpu_limits(platform.compute_capability), dtype)) {
    const bool same = !shapes.empty() && shapes.back().front().block_m == tile.block_m &&
                      shapes.back().front().block_n == tile.block_n;
    if (!same) shapes.emplace_back();
    shapes.back().push_back(tile);
  }
  return shapes;
}

}  // namespace

Draws::Draws(std::uint64_t seed, const Platform& platform, Dtype dtype)
    : dice(seed),
      sms(platform.sms),
      shapes(tiles_by_shape(platform, dtype)),
      rasters({1, 2, 4, 8, 16}),
      waits({Wait::driver, Wait::driver, Wait::driver, Wait::kernel}),
      partitions({PartitionKind::one_group, PartitionKind::every_wave, PartitionKind::equal_groups,
                  PartitionKind::random_cuts, PartitionKind::ever_smaller}) {}

}  // namespace overlaptune
