// The search over `signaled` configs: bound every combination, then solve them by ascending bound.

#include <algorithm>
#include <array>
#include <optional>

#include "model/signaled.hpp"
#include "model/signaled_partition.hpp"

namespace overlaptune {
namespace {

using namespace signaled;

constexpr std::array<int, 5> kRasters{1, 2, 4, 8, 16};
/// Most row panels in a column of a swizzle group: a column must fit a wave, and a wave group must
/// hold at least one column.
constexpr int kMostPanels = 32;
/// Number of combinations that the subset (docs/model.md) solves: those of least estimate.
constexpr std::size_t kSubset = 48;

/// A GEMM of the space: a tile and an order of its tiles.
struct Walk {
  Tile tile{};
  int raster = 0;
  TileOrder order{};
};

/// Whether the subset has this tile: one with the deepest pipeline that fits and the widest cluster
/// (no cluster where two CTAs can share a tile).
bool in_subset(const Tile& tile, const Problem& problem, int sms, const GpuLimits& limits) {
  Tile alone = tile;
  alone.cluster = 1;
  Tile deeper = tile;
  ++deeper.stages;
  const bool shared =
      ctas_per_tile(tile_order(problem, alone, 1), alone, problem.k, sms, limits) > 1;
  return tile.cluster == (shared ? 1 : limits.largest_cluster) &&
         !is_feasible(deeper, limits, problem.dtype);
}

std::vector<Walk> walks(const GpuLimits& limits, const Problem& problem, int sms, Space space) {
  std::vector<Walk> list;
  for (const Tile& tile : feasible_tiles(limits, problem.dtype)) {
    if (space == Space::subset && !in_subset(tile, problem, sms, limits)) continue;
    for (const int raster : kRasters) {
      const TileOrder order = tile_order(problem, tile, raster);
      if (raster > 1 &&
          (order.column_tiles(0) > kMostPanels || raster > order.panels_per_block())) {
        break;
      }
      list.push_back({tile, raster, order});
    }
  }
  return list;
}

/// Number of cuts beyond which neighbours are merged. The time of the search grows with its square,
/// and one of so many waves hardly changes the result.
constexpr std::size_t kMostCuts = 192;
constexpr std::size_t kMostCutsOfSubset = 96;
/// The same when a combination of the full space, which may be the fastest, is solved again.
constexpr std::size_t kMostCutsOfFirst = 4096;

/// The same with peer access, where a group may need three regions of C. Any number of groups may
/// be best: one for every wave, where the exchange does not slow the GEMM.
constexpr std::size_t kMostCutsAnywhere = kMostRegions / 3;

std::vector<Cut> thinned(std::vector<Cut> cuts, std::size_t most) {
  if (cuts.size() <= most) return cuts;
  std::vector<Cut> kept;
  kept.reserve(most);
  for (std::size_t i = 1; i <= most; ++i) kept.push_back(cuts[i * cuts.size() / most - 1]);
  return kept;
}

/// One combination of the space, with a lower bound on the time of its partitions.
struct Combination {
  double bound = 0;
  const Walk* walk = nullptr;
  const GroupCollectives* groups = nullptr;
};

bool by_bound(const Combination& a, const Combination& b) {
  return a.bound < b.bound;
}

/// A lower bound on the time of any partition, if all tiles take `produced`.
double end_of(const ClockedGemm& gemm, double produced, const GroupCollectives& groups) {
  return groups.drain + lower_bound({.start = groups.start,
                                     .first = gemm.first(1),
                                     .produced = produced,
                                     .least = groups.least,
                                     .first_more = groups.first_more,
                                     .rates = gemm.rates});
}

double bound_of(const ClockedGemm& gemm, const Walk& walk, const GroupCollectives& groups) {
  return end_of(gemm, gemm.least(walk.order.tiles()), groups);
}

/// An estimate, not a bound; it is nearer to the truth if waves are few. It counts whole waves, the
/// first one on all SMs, and a collective of the last wave's results after them.
double estimate_of(const ClockedGemm& gemm, const Walk& walk, const GroupCollectives& groups) {
  const std::int64_t tiles = walk.order.tiles();
  const std::int64_t first = std::min<std::int64_t>(tiles, gemm.all_sms);
  const double produced = gemm.until(tiles, first);
  const double last_bytes =
      groups.bytes * std::min(1.0, static_cast<double>(gemm.sms) / static_cast<double>(tiles));
  return std::max(end_of(gemm, produced, groups), groups.start + produced + gemm.rates.trigger +
                                                      (*groups.curve)(last_bytes)-groups.shared +
                                                      groups.drain);
}

ClockedGemm gemm_of(const Model::Parts& parts, const Problem& problem, const Walk& walk,
                    const GroupCollectives& groups) {
  const GemmWork work = work_beside(groups, walk.tile, walk.order, problem.k);
  return clocked(parts.clock, problem, work, groups.gemms->generated->tile_time(work), groups);
}

std::vector<Combination> all_combinations(const Model::Parts& parts, const Problem& problem,
                                          const std::vector<Walk>& walks,
                                          const std::vector<GroupCollectives>& collectives) {
  std::vector<Combination> list;
  list.reserve(walks.size() * collectives.size());
  for (const Walk& walk : walks) {
    for (const GroupCollectives& groups : collectives) {
      const ClockedGemm gemm = gemm_of(parts, problem, walk, groups);
      list.push_back({bound_of(gemm, walk, groups), &walk, &groups});
    }
  }
  return list;
}

/// The combinations of least estimate. The estimate takes the tile time at one SM count.
std::vector<Combination> promising_combinations(const Model::Parts& parts, const Problem& problem,
                                                const std::vector<Walk>& walks,
                                                const std::vector<GroupCollectives>& collectives) {
  std::vector<Combination> list;
  list.reserve(walks.size() * collectives.size());
  const GroupCollectives& middle = collectives[collectives.size() / 2];
  const GemmModel& model = *middle.gemms->generated;
  for (const Walk& walk : walks) {
    const GemmWork work = model.work(walk.tile, walk.order, problem.k, middle.sms);
    ClockedGemm gemm = clocked(parts.clock, problem, work, model.tile_time(work), middle);
    for (const GroupCollectives& groups : collectives) {
      gemm.sms = groups.sms;
      gemm.rates = rates_beside(groups, walk.tile, gemm.fed_slower);
      list.push_back({estimate_of(gemm, walk, groups), &walk, &groups});
    }
  }
  const std::size_t kept = std::min(kSubset, list.size());
  std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(kept), list.end(),
                    by_bound);
  list.resize(kept);
  for (Combination& combination : list) {
    const ClockedGemm gemm = gemm_of(parts, problem, *combination.walk, *combination.groups);
    combination.bound = bound_of(gemm, *combination.walk, *combination.groups);
  }
  return list;
}

/// The best partition of a combination, if it is under the limit.
std::optional<Scored> solved(const Model::Parts& parts, const Problem& problem,
                             const Combination& combination, std::size_t most_cuts, double limit) {
  const Walk& walk = *combination.walk;
  const GroupCollectives& groups = *combination.groups;
  const std::vector<Cut> cuts = thinned(wave_cuts(walk.order, groups.sms, groups.key.transport),
                                        groups.key.transport == Transport::peer_access
                                            ? std::min(most_cuts, kMostCutsAnywhere)
                                            : most_cuts);
  const ClockedGemm gemm = gemm_of(parts, problem, walk, groups);
  const std::vector<CutPoint> points = cut_points(cuts);
  const Partition partition =
      best_partition(partition_problem(groups, gemm, cuts, points), limit - groups.drain);
  if (partition.ends.empty()) return std::nullopt;
  Signaled config = groups.exchange;
  config.tile = walk.tile;
  config.raster = walk.raster;
  std::int64_t begin = 0;
  for (const std::size_t end : partition.ends) {
    config.wave_groups.push_back(cuts[end - 1].tiles - begin);
    begin = cuts[end - 1].tiles;
  }
  // The model may prefer more groups than a launch has room for; in reality they never pay.
  if (!check(problem, config, parts.capabilities)) return std::nullopt;
  return Scored{std::move(config), us(partition.time + groups.drain)};
}

bool is_of(const Combination& combination, const Config& config) {
  const auto* own = std::get_if<Signaled>(&config);
  return own != nullptr && combination.walk->tile == own->tile &&
         combination.walk->raster == own->raster &&
         combination.groups->exchange == exchange_of(*own);
}

/// Solves combinations again with every wave: those that were solved with merged cuts and may still
/// become the first.
void settle_first(const Model::Parts& parts, const Problem& problem,
                  const std::vector<Combination>& combinations, BestConfigs& best) {
  for (const Combination& combination : combinations) {
    if (combination.bound >= best.first() || best.stopped()) return;  // ascending
    const auto waves = wave_cuts(combination.walk->order, combination.groups->sms,
                                 combination.groups->key.transport)
                           .size();
    if (waves <= kMostCuts) continue;
    auto finer = solved(parts, problem, combination, kMostCutsOfFirst, best.first());
    if (!finer) continue;
    best.replace([&](const Config& config) { return is_of(combination, config); },
                 std::move(*finer));
  }
}

/// The probed collectives that can run beside a generated GEMM.
std::vector<CollectiveKey> probed_keys(const Model::Parts& parts, const ClassGemms& gemms,
                                       const Problem& problem, Space space) {
  const Collective collective = collective_of(problem.op);
  std::vector<CollectiveKey> keys = parts.collectives.overlap_settings(collective, problem.ranks);
  // The subset has persistent GEMMs only, which are ranked by one tile time.
  if (space == Space::full) {
    for (const Transport transport : {Transport::ring, Transport::symmetric}) {
      const CollectiveKey key{collective, problem.ranks, kHandedOver, transport};
      if (gemms.contention.knows(key)) keys.push_back(key);
    }
  }
  std::erase_if(keys,
                [&](const CollectiveKey& key) { return key.comm_ctas >= parts.platform.sms; });
  return keys;
}

/// The collectives of the space for this problem.
std::vector<GroupCollectives> all_collectives(const Model::Parts& parts, const ClassGemms& gemms,
                                              const Problem& problem, Launch launch, Space space) {
  const BackgroundLoad background = background_of(parts, gemms, problem);
  const Curve* ring = parts.collectives.find(
      {collective_of(problem.op), problem.ranks, kNcclsChoice, Transport::ring});
  std::vector<GroupCollectives> list;
  for (const CollectiveKey& key : probed_keys(parts, gemms, problem, space)) {
    const Curve& curve = *parts.collectives.find(key);
    // A wait of the driver keeps symmetric kernels apart in any case (run/collective.cpp), and
    // copy engines have no other.
    const bool is_drivers =
        key.transport == Transport::symmetric || key.transport == Transport::copy_engine;
    const Wait wait = is_drivers ? Wait::driver : parts.launch.wait(launch);
    for (const Signaled& exchange : exchanges(key.comm_ctas, key.transport)) {
      if (exchange.wait != wait) continue;
      if (key.transport == Transport::copy_engine) {
        auto copies = groups_by_copies(parts, gemms, problem, exchange, curve, launch, background);
        if (copies) list.push_back(*copies);
        continue;
      }
      list.push_back(group_collectives(parts, gemms, problem, exchange, curve, launch, background));
      const GroupCollectives same = list.back();
      if (key.transport != Transport::symmetric || ring == nullptr) continue;
      // Searched only if the ring is faster for sizes that a last group may have.
      const bool faster = (*ring)(same.bytes) < same.whole ||
                          (*ring)(same.bytes / 2) < (*same.curve)(same.bytes / 2);
      if (faster) list.push_back(with_last_group(same, Transport::ring, *ring));
    }
  }
  return list;
}

}  // namespace

void SignaledModel::search(const Model::Parts& parts, const Problem& problem, Launch launch,
                           Space space, BestConfigs& best) const {
  const auto gemms = parts.gemms_of(problem.dtype);
  if (!gemms || !(*gemms)->generated) return;
  const std::vector<GroupCollectives> collectives =
      all_collectives(parts, **gemms, problem, launch, space);
  if (collectives.empty()) return;
  const std::vector<Walk> list = walks(parts.limits, problem, parts.platform.sms, space);
  std::vector<Combination> combinations =
      (space == Space::full ? all_combinations : promising_combinations)(parts, problem, list,
                                                                         collectives);
  std::sort(combinations.begin(), combinations.end(), by_bound);
  for (const Combination& combination : combinations) {
    if (combination.bound >= best.limit()) break;  // ascending: nothing after it can enter
    if (best.stopped()) break;
    auto scored = solved(parts, problem, combination,
                         space == Space::full ? kMostCuts : kMostCutsOfSubset, best.limit());
    if (scored) best.offer(std::move(*scored));
  }
  if (space == Space::full) settle_first(parts, problem, combinations, best);
}

}  // namespace overlaptune
