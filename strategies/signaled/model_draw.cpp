// `signaled` configs drawn at random.

#include <algorithm>

#include "core/config/rules.hpp"
#include "strategies/signaled/model.hpp"
#include "strategies/signaled/model_collectives.hpp"
#include "strategies/signaled/model_cut_choice.hpp"
#include "strategies/signaled/traits.hpp"

namespace overlaptune {

std::optional<Config> ModelOf<Signaled>::draw(const Problem& problem, const CommSetting& setting,
                                              Draws& draws) const {
  const std::vector<Tile>& shape = draws.shapes.deal(draws.dice);
  const Tile tile = shape[draws.dice.roll(shape.size())];
  const int swizzle = draws.swizzles.deal(draws.dice);
  std::vector<Signaled> ways = signaled::exchanges(setting.comm_ctas, setting.transport);
  if (TraitsOf<Signaled>::kernel_waits.contains(setting.transport)) {
    const Wait wait = draws.waits.deal(draws.dice);
    std::erase_if(ways, [&](const Signaled& way) { return way.wait != wait; });
  }
  Signaled config = ways.size() == 1 ? ways.front() : ways[draws.dice.roll(ways.size())];
  config.tile = tile;
  config.swizzle = most_swizzle(problem, config.tile, swizzle);
  // Beyond so many cuts, most partitions have too many groups for a launch.
  constexpr std::int64_t kMostCuts = 4096;
  const WaveCuts all(tile_order(problem, config.tile, config.swizzle),
                     std::max(1, draws.sms - config.comm_ctas), setting.transport);
  std::vector<std::int64_t> numbers = spread_cuts(all.count(), kMostCuts);
  const std::vector<Cut> cuts = all.at(numbers);
  config.wave_groups = random_groups(cuts, draws.partitions.deal(draws.dice), draws.dice);
  return config;
}

}  // namespace overlaptune
