#include "strategies/peer_store/model.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "core/config/check.hpp"
#include "core/config/rules.hpp"
#include "model/search.hpp"
#include "strategies/peer_store/model_setting.hpp"
#include "strategies/peer_store/store_order.hpp"

namespace overlaptune {
namespace {

/// Where there are so many panels. Tiles of two groups run at once; with lower swizzle groups they
/// used more of B at once than L2 holds, and took up to 10 % longer (docs/kernel-notes.md).
constexpr std::array<int, 2> kSwizzles{8, 16};
/// Most cuts that are looked at: as many as groups that a launch may have.
constexpr std::int64_t kMostCuts = kMostRegions;
/// Most cuts that are looked at where own tiles come later: then the time grows with the cube of
/// their number.
constexpr std::int64_t kMostCutsOfLater = 64;
constexpr std::int64_t kMostCutsOfSubset = 32;
/// Most combinations of tile and swizzle that the subset solves: those of least bound.
constexpr std::size_t kKeptStores = 48;
/// Share of its time that the first config of the subset may lose, because combinations that are
/// hardly faster are left out. Where the links are the limit, all are about equally fast.
constexpr double kSubsetLoss = 0.002;
/// Smaller tiles load more for each product, and how traffic over the links slows them is known
/// badly: they were predicted up to 9 % too fast. So they are proposed only where tiles of this
/// size are few.
constexpr std::int64_t kLeastArea = 128 * 128;
constexpr int kLeastWaves = 2;

bool is_proposed(const Tile& tile, const Problem& problem, int sms, const GpuLimits& limits) {
  if (!has_store_kernel(tile, limits)) return false;
  const bool few = problem.m * problem.n < kLeastWaves * sms * kLeastArea;
  return few || tile.block_m * tile.block_n >= kLeastArea;
}

/// The subset has rings of one stage less, too: they leave room for more staging buffers.
bool in_store_subset(const Tile& tile, const Problem& problem, int sms, const GpuLimits& limits) {
  Tile deeper = tile;
  ++deeper.stages;
  return in_subset(tile, problem, sms, limits) || in_subset(deeper, problem, sms, limits);
}

/// The ends of waves, or some of them, evenly spread. (Cuts that are close together only at the
/// ends would leave large groups in the middle, in which the links idle while own tiles are
/// computed.)
std::vector<std::int64_t> candidate_cuts(const TileOrder& order, int sms, std::int64_t most) {
  const WaveCuts all(order, sms, Transport::peer_access);
  const std::int64_t chosen = std::min(all.count(), most);
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 1; i <= chosen; ++i) numbers.push_back(i * all.count() / chosen);
  std::vector<std::int64_t> cuts{0};
  for (const Cut& cut : all.at(numbers)) cuts.push_back(cut.tiles);
  return cuts;
}

/// A tile and a swizzle, with a lower bound on their time.
struct StoreCombination {
  double bound = 0;
  Tile tile{};
  int swizzle = 1;
  StoreProblem stores{};
};

Scored scored(const StoreCombination& combination, const StorePartition& best, double start) {
  PeerStore config{.tile = combination.tile, .swizzle = combination.swizzle};
  std::vector<std::int64_t>& groups = config.wave_groups;
  for (const std::size_t end : best.ends) groups.push_back(combination.stores.cuts[end]);
  std::adjacent_difference(groups.begin(), groups.end(), groups.begin());
  return {std::move(config), us(start + best.time)};
}

/// The best config of a combination; none if none takes less than `limit`. Where there are more
/// than `most_cuts` cuts, groups of about equal size may end at any of `kMostCuts` all the same:
/// the links idle in large groups.
std::optional<Scored> solve(const Problem& problem, StoreCombination combination,
                            std::int64_t most_cuts, double start, double limit) {
  StoreProblem& stores = combination.stores;
  const TileOrder order = tile_order(problem, combination.tile, combination.swizzle);
  std::optional<Scored> best;
  const auto keep = [&](const StorePartition& found) {
    if (found.ends.empty()) return;
    best = scored(combination, found, start);
    limit = best->time.count();
  };
  if (WaveCuts(order, stores.sms, Transport::peer_access).count() > most_cuts) {
    stores.cuts = candidate_cuts(order, stores.sms, kMostCuts);
    keep(best_equal_stores(stores, limit - start));
  }
  stores.cuts = candidate_cuts(order, stores.sms, most_cuts);
  keep(best_stores(stores, limit - start));
  return best;
}

std::vector<StoreCombination> combinations(const Model::Parts& parts, const Problem& problem,
                                           const StoreSetting& setting, Space space) {
  std::vector<StoreCombination> list;
  for (const Tile& tile : promising_tiles(parts.limits, problem)) {
    if (!is_proposed(tile, problem, parts.platform.sms, parts.limits)) continue;
    if (space == Space::subset &&
        !in_store_subset(tile, problem, parts.platform.sms, parts.limits)) {
      continue;
    }
    const auto panels = static_cast<int>(tile_order(problem, tile, 1).panels_per_block());
    for (const int most : kSwizzles) {
      const int swizzle = std::min(most, panels);
      StoreProblem stores = store_problem(parts, problem, setting, tile, swizzle);
      const double bound = stores.least_time();
      list.push_back({bound, tile, swizzle, std::move(stores)});
      if (swizzle == panels) break;
    }
  }
  std::ranges::stable_sort(list, {}, &StoreCombination::bound);
  if (space == Space::subset && list.size() > kKeptStores) list.resize(kKeptStores);
  return list;
}

}  // namespace

Expected<Prediction> ModelOf<PeerStore>::predict(const Model::Parts& parts, const Work& work,
                                                 Launch launch) const {
  const Problem& problem = work.problem();
  const auto& config = work.config_as<PeerStore>();
  const auto setting = store_setting(parts, problem);
  if (!setting) return error_of(setting);
  StoreProblem stores = store_problem(parts, problem, *setting, config.tile, config.swizzle);
  stores.cuts = {0};
  for (const Cut& cut : work.tiled().cuts) stores.cuts.push_back(cut.tiles);
  const double start = parts.launch.start(launch);

  Prediction prediction{.gemm_alone = us(stores.produced(stores.tiles())),
                        .collective_alone = us(stores.all_sent() + stores.signal)};
  std::vector<GroupTimes>& groups = prediction.timeline.groups;
  const auto end_own_tiles = [&](GroupTimes& group, const StoreStep& step) {
    group.end = std::max(group.end, us(start + step.sums_arrived));
    group.exposed += us(step.own_stalled);
  };
  StoreStep step{.state = first_state(stores)};
  const std::size_t last = stores.cuts.size() - 1;
  for (std::size_t end = 1; end <= last; ++end) {
    step = advance(stores, step.state, {std::max<std::size_t>(end, 2) - 2, end - 1, end});
    groups.push_back({.group = static_cast<int>(end - 1),
                      .ready = us(start + step.computed),
                      .start = us(start + step.start),
                      .end = us(start + step.others_arrived),
                      .exposed = us(step.others_stalled)});
    const std::size_t later = stores.own_later ? 1 : 0;
    if (groups.size() > later) end_own_tiles(groups[groups.size() - 1 - later], step);
  }
  step = finish(stores, step, last - 1);
  if (stores.own_later) end_own_tiles(groups.back(), step);
  const double end = end_of(stores, step);
  const double gemm_end = stores.produced(stores.tiles()) + step.state.delay;
  prediction.time = us(start + end);
  prediction.timeline.gemm_end = us(start + gemm_end);
  prediction.timeline.groups.back().exposed += us(end - gemm_end);
  for (GroupTimes& group : prediction.timeline.groups) {
    group.exposed = std::min(group.exposed, group.end - group.start);
  }
  return prediction;
}

void ModelOf<PeerStore>::search(const Model::Parts& parts, const Problem& problem, Launch launch,
                                Space space, BestConfigs& best) const {
  const auto setting = store_setting(parts, problem);
  if (!setting) return;
  const double start = parts.launch.start(launch);
  const bool is_subset = space == Space::subset;
  const std::int64_t cuts = is_subset                       ? kMostCutsOfSubset
                            : own_tiles_come_later(problem) ? kMostCutsOfLater
                                                            : kMostCuts;
  for (StoreCombination& combination : combinations(parts, problem, *setting, space)) {
    const double limit = best.limit() * (is_subset ? 1 - kSubsetLoss : 1);
    if (start + combination.bound >= limit || best.stopped()) return;
    auto found = solve(problem, std::move(combination), cuts, start, limit);
    if (found) best.offer(std::move(*found));
  }
}

/// It has no collective, so the setting does not matter.
std::optional<Config> ModelOf<PeerStore>::draw(const Problem& problem, const CommSetting&,
                                               Draws& draws) const {
  if (!draws.limits.queue) return std::nullopt;  // no tile has a kernel
  PeerStore config;
  do {
    const std::vector<Tile>& shape = draws.shapes.deal(draws.dice);
    config.tile = shape[draws.dice.roll(shape.size())];
  } while (!is_proposed(config.tile, problem, draws.sms, draws.limits));
  config.swizzle = most_swizzle(problem, config.tile,
                                std::max(draws.swizzles.deal(draws.dice), kSwizzles.front()));
  const TileOrder order = tile_order(problem, config.tile, config.swizzle);
  std::vector<Cut> cuts;
  for (const std::int64_t tiles : candidate_cuts(order, draws.sms, kMostCuts)) {
    if (tiles > 0) cuts.push_back(cut_at(order, tiles));
  }
  config.wave_groups = random_groups(cuts, draws.partitions.deal(draws.dice), draws.dice);
  return config;
}

std::optional<Scored> ModelOf<PeerStore>::adapted(const Model::Parts& parts, const Problem& problem,
                                                  Launch launch, const Config& config) const {
  const auto& own = std::get<PeerStore>(config);
  const auto setting = store_setting(parts, problem);
  if (!setting) return std::nullopt;
  const int swizzle = most_swizzle(problem, own.tile, std::max(own.swizzle, kSwizzles.front()));
  StoreCombination combination{.tile = own.tile, .swizzle = swizzle};
  combination.stores = store_problem(parts, problem, *setting, own.tile, swizzle);
  constexpr double kAnyTime = std::numeric_limits<double>::infinity();
  auto found = solve(problem, std::move(combination), kMostCutsOfSubset, parts.launch.start(launch),
                     kAnyTime);
  if (!found || !check(problem, found->config, parts.capabilities)) return std::nullopt;
  return found;
}

}  // namespace overlaptune
