#include "model/draw.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/gpu.hpp"

namespace overlaptune {
namespace {

/// The tiles that suit most problems, by shape. Transposed ones suit few (`promising_tiles`).
std::vector<std::vector<Tile>> tiles_by_shape(const Platform& platform, Elements elements) {
  std::vector<std::vector<Tile>> shapes;
  for (const Tile& tile : feasible_tiles(gpu_limits(platform.compute_capability), elements)) {
    if (tile.swaps_ab()) continue;
    const bool same = !shapes.empty() && shapes.back().front().block_m == tile.block_m &&
                      shapes.back().front().block_n == tile.block_n;
    if (!same) shapes.emplace_back();
    shapes.back().push_back(tile);
  }
  return shapes;
}

}  // namespace

Draws::Draws(std::uint64_t seed, const Platform& platform, Elements elements)
    : dice(seed),
      sms(platform.sms),
      limits(gpu_limits(platform.compute_capability)),
      shapes(tiles_by_shape(platform, elements)),
      swizzles({1, 2, 4, 8, 16}),
      waits({Wait::driver, Wait::driver, Wait::driver, Wait::kernel}),
      partitions({PartitionKind::one_group, PartitionKind::every_wave, PartitionKind::equal_groups,
                  PartitionKind::random_cuts, PartitionKind::ever_smaller}) {}

std::vector<std::int64_t> random_groups(std::span<const Cut> cuts, PartitionKind kind, Dice& dice) {
  const std::size_t last = cuts.size() - 1;
  std::set<std::size_t> ends{last};
  switch (kind) {
    case PartitionKind::one_group:
      break;
    case PartitionKind::every_wave:
      for (std::size_t i = 0; i < last; ++i) ends.insert(i);
      break;
    case PartitionKind::equal_groups: {
      const std::size_t groups = 2 + dice.roll(std::min<std::size_t>(cuts.size(), 15));
      for (std::size_t i = 1; i < groups; ++i) ends.insert(i * cuts.size() / groups);
      break;
    }
    case PartitionKind::random_cuts: {
      const std::size_t every = 1 + dice.roll(std::min<std::size_t>(cuts.size(), 12));
      for (std::size_t i = 0; i < last; ++i) {
        if (dice.roll(every) == 0) ends.insert(i);
      }
      break;
    }
    case PartitionKind::ever_smaller:
      for (std::size_t left = cuts.size(); left > 1; left = (left + 1) / 2) {
        ends.insert(cuts.size() - left);
      }
      break;
  }
  std::vector<std::int64_t> groups;
  groups.reserve(ends.size());
  for (const std::size_t end : ends) groups.push_back(cuts[end].tiles);
  std::adjacent_difference(groups.begin(), groups.end(), groups.begin());
  return groups;
}

}  // namespace overlaptune
