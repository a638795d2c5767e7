#include "tuner/explore.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "core/gpu.hpp"
#include "core/hash.hpp"
#include "core/tiling.hpp"

namespace overlaptune {
namespace {

/// A counter-based generator: the standard's distributions differ between libraries, this does not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  /// 0 .. sides - 1.
  std::size_t roll(std::size_t sides) {
    state_ = mix(state_);
    return static_cast<std::size_t>(state_ % sides);
  }

 private:
  std::uint64_t state_;
};

/// Deals the items of a list in random order, again and again: each comes equally often.
template <class T>
class Deck {
 public:
  explicit Deck(std::vector<T> items) : items_(std::move(items)) {}
  const T& deal(Dice& dice) {
    if (next_ == 0) {
      for (std::size_t i = items_.size(); i > 1; --i)
        std::swap(items_[i - 1], items_[dice.roll(i)]);
    }
    const T& item = items_[next_];
    next_ = (next_ + 1) % items_.size();
    return item;
  }
  [[nodiscard]] bool empty() const { return items_.empty(); }

 private:
  std::vector<T> items_;
  std::size_t next_ = 0;
};

enum class PartitionKind { one_group, every_wave, equal_groups, random_cuts, ever_smaller };

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

std::vector<std::vector<Tile>> tiles_by_shape(const Platform& platform) {
  std::vector<std::vector<Tile>> shapes;
  for (const Tile& tile : feasible_tiles(gpu_limits(platform.compute_capability))) {
    const bool same = !shapes.empty() && shapes.back().front().block_m == tile.block_m &&
                      shapes.back().front().block_n == tile.block_n;
    if (!same) shapes.emplace_back();
    shapes.back().push_back(tile);
  }
  return shapes;
}

}  // namespace

std::vector<Config> explore(const ExploreSpace& space, const Problem& problem, int count,
                            std::uint64_t seed) {
  std::vector<Strategy> strategies;
  for (const Strategy strategy : space.strategies) {
    const bool fits = strategy == Strategy::chunked ||
                      (strategy == Strategy::signaled && problem.op != Op::all_gather_gemm);
    if (fits) strategies.push_back(strategy);
  }
  Dice dice(mix(seed ^ fnv1a(to_string(problem))));
  Deck<Strategy> strategy_deck(strategies);
  const auto settings = space.settings.find(collective_of(problem.op));
  Deck<CommSetting> setting_deck(settings == space.settings.end() ? std::vector<CommSetting>{}
                                                                  : settings->second);
  Deck<std::vector<Tile>> tile_deck(tiles_by_shape(space.platform));
  Deck<int> raster_deck({1, 2, 4, 8, 16});
  Deck<Wait> wait_deck({Wait::driver, Wait::driver, Wait::driver, Wait::kernel});
  Deck<PartitionKind> partition_deck({PartitionKind::one_group, PartitionKind::every_wave,
                                      PartitionKind::equal_groups, PartitionKind::random_cuts,
                                      PartitionKind::ever_smaller});
  std::vector<Config> configs;
  if (strategy_deck.empty() || setting_deck.empty()) return configs;

  std::set<std::string> seen;
  // A small space runs out: stop after many draws that brought nothing new.
  for (int idle = 0; static_cast<int>(configs.size()) < count && idle < 1000;) {
    const CommSetting setting = setting_deck.deal(dice);
    Config config{.strategy = strategy_deck.deal(dice),
                  .comm_ctas = setting.comm_ctas,
                  .transport = setting.transport};
    if (config.strategy == Strategy::chunked) {
      const int most = most_chunks(problem);
      if (most < 2 || !is_librarys(config.transport) || config.comm_ctas == 0) {
        ++idle;
        continue;
      }
      config.chunks = 2 + static_cast<int>(dice.roll(static_cast<std::size_t>(most - 1)));
    } else {
      const std::vector<Tile>& shape = tile_deck.deal(dice);
      config.tile = shape[dice.roll(shape.size())];
      config.raster = raster_deck.deal(dice);
      if (config.transport != Transport::copy_engine) config.wait = wait_deck.deal(dice);
      const TileOrder order = tile_order(problem, config.tile, config.raster);
      config.raster =
          static_cast<int>(std::clamp<std::int64_t>(config.raster, 1, order.panels_per_block()));
      const std::vector<Cut> cuts =
          wave_cuts(tile_order(problem, config.tile, config.raster),
                    std::max(1, space.platform.sms - config.comm_ctas), config.transport);
      config.wave_groups = random_groups(cuts, partition_deck.deal(dice), dice);
      const auto kernel = kernel_of(problem, config);
      if (!kernel || kernel->regions > kMostRegions) {
        ++idle;
        continue;
      }
    }
    if (seen.insert(to_string(config)).second) {
      configs.push_back(std::move(config));
      idle = 0;
    } else {
      ++idle;
    }
  }
  return configs;
}

}  // namespace overlaptune
