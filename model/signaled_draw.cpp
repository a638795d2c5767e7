// `signaled` configs drawn at random.

#include <algorithm>
#include <set>

#include "model/cut_choice.hpp"
#include "model/signaled.hpp"
#include "model/signaled_collectives.hpp"

namespace overlaptune {
namespace {

/// The wave groups of a random partition of this kind. A wave ends at each of `cuts`.
std::vector<std::int64_t> random_groups(const std::vector<Cut>& cuts, PartitionKind kind,
                                        Dice& dice) {
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
  std::int64_t begin = 0;
  for (const std::size_t end : ends) {
    groups.push_back(cuts[end].tiles - begin);
    begin = cuts[end].tiles;
  }
  return groups;
}

}  // namespace

std::optional<Config> SignaledModel::draw(const Problem& problem, const CommSetting& setting,
                                          Draws& draws) const {
  const std::vector<Tile>& shape = draws.shapes.deal(draws.dice);
  const Tile tile = shape[draws.dice.roll(shape.size())];
  const int raster = draws.rasters.deal(draws.dice);
  std::vector<Signaled> ways = signaled::exchanges(setting.comm_ctas, setting.transport);
  if (traits_of(strategy()).kernel_waits.contains(setting.transport)) {
    const Wait wait = draws.waits.deal(draws.dice);
    std::erase_if(ways, [&](const Signaled& way) { return way.wait != wait; });
  }
  Signaled config = ways.size() == 1 ? ways.front() : ways[draws.dice.roll(ways.size())];
  config.tile = tile;
  const std::int64_t panels = tile_order(problem, config.tile, raster).panels_per_block();
  config.raster = static_cast<int>(std::clamp<std::int64_t>(raster, 1, panels));
  // Beyond so many cuts, most partitions have too many groups for a launch.
  constexpr std::int64_t kMostCuts = 4096;
  const WaveCuts all(tile_order(problem, config.tile, config.raster),
                     std::max(1, draws.sms - config.comm_ctas), setting.transport);
  std::vector<std::int64_t> numbers = spread_cuts(all.count(), kMostCuts);
  const std::vector<Cut> cuts = all.at(numbers);
  config.wave_groups = random_groups(cuts, draws.partitions.deal(draws.dice), draws.dice);
  return config;
}

}  // namespace overlaptune
