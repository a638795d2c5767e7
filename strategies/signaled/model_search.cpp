// The search over `signaled` configs: bound every combination, then solve them by ascending bound.

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "model/search.hpp"
#include "strategies/signaled/model.hpp"
#include "strategies/signaled/model_solver.hpp"

namespace overlaptune {
namespace {

using namespace signaled;

/// Most row panels in a column of a swizzle group: a column must fit a wave, and a wave group must
/// hold at least one column.
constexpr int kMostPanels = 32;
/// Number of combinations that the subset (docs/model.md) solves: those of least estimate.
constexpr std::size_t kSubset = 48;

std::vector<Walk> walks(const GpuLimits& limits, const Problem& problem, int sms, Space space) {
  std::vector<Walk> list;
  for (const Tile& tile : promising_tiles(limits, problem)) {
    if (space == Space::subset && !in_subset(tile, problem, sms, limits)) continue;
    for (const int swizzle : kTriedSwizzles) {
      const TileOrder order = tile_order(problem, tile, swizzle);
      if (swizzle > 1 &&
          (order.column_tiles(0) > kMostPanels || swizzle > order.panels_per_block())) {
        break;
      }
      list.push_back({tile, swizzle, order});
    }
  }
  return list;
}

CutNumbers cut_numbers(Space space) {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  switch (space) {
    case Space::full:
      break;
    case Space::subset:
      return kSubsetCuts;
    case Space::every_cut:
      return {.spread = kAll, .every = kAll};
  }
  return {.spread = 96, .every = 192, .around = 192};
}

/// The most combinations with more cuts than `CutNumbers::every` that are refined.
constexpr std::size_t kMostRefined = 8;
constexpr std::size_t kMostRefinedOfSubset = 2;

bool by_bound(const Combination& a, const Combination& b) {
  return a.bound < b.bound;
}

double bound_of(const ClockedGemm& gemm, const Walk& walk, const GroupCollectives& groups) {
  return groups.drain + lower_bound(whole_problem(gemm, groups, gemm.least(walk.order.tiles())));
}

/// An estimate, not a bound; it is nearer to the truth if waves are few. It counts whole waves, the
/// first one on all SMs, and a collective of the last wave's results after them. `bound` is a lower
/// bound for a known production of everything.
template <class Bound>
double estimate_of(const ClockedGemm& gemm, const Walk& walk, const GroupCollectives& groups,
                   const Bound& bound) {
  const std::int64_t tiles = walk.order.tiles();
  const std::int64_t first = std::min<std::int64_t>(tiles, gemm.all_sms);
  const double produced = gemm.until(tiles, first);
  const double last_bytes =
      groups.bytes * std::min(1.0, static_cast<double>(gemm.sms) / static_cast<double>(tiles));
  return groups.drain + std::max(bound(whole_problem(gemm, groups, produced)),
                                 groups.start + produced + gemm.rates.trigger +
                                     (*groups.curve)(last_bytes)-groups.shared);
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
  const GroupCollectives& middle = collectives[collectives.size() / 2];
  const GemmModel& model = *middle.gemms->generated;
  std::vector<ClockedGemm> gemms;
  gemms.reserve(walks.size());
  for (const Walk& walk : walks) {
    const GemmWork work = model.work(walk.tile, walk.order, problem.k, middle.sms);
    gemms.push_back(clocked(parts.clock, problem, work, model.tile_time(work), middle));
  }
  const auto estimate = [&](const Walk& walk, const GroupCollectives& groups, const auto& bound) {
    ClockedGemm& gemm = gemms[static_cast<std::size_t>(&walk - walks.data())];
    gemm.sms = groups.sms;
    gemm.rates = rates_beside(groups, walk.tile, gemm.fed_slower);
    return estimate_of(gemm, walk, groups, bound);
  };
  std::vector<Combination> list;
  list.reserve(walks.size() * collectives.size());
  for (const Walk& walk : walks) {
    for (const GroupCollectives& groups : collectives) {
      list.push_back({estimate(walk, groups, lower_bound), &walk, &groups});
    }
  }
  // A closer bound takes longer. It is computed while it may matter: the rough one is lower.
  const auto is_later = [](const Combination& a, const Combination& b) { return by_bound(b, a); };
  std::make_heap(list.begin(), list.end(), is_later);
  std::vector<Combination> kept;  // a heap, too, with the largest estimate in front
  const auto closer = [&](const WholeProblem& whole) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    return closer_bound(whole, kept.size() < kSubset ? kNever : kept.front().bound);
  };
  while (!list.empty() && (kept.size() < kSubset || by_bound(list.front(), kept.front()))) {
    std::pop_heap(list.begin(), list.end(), is_later);
    Combination next = list.back();
    list.pop_back();
    next.bound = estimate(*next.walk, *next.groups, closer);
    kept.push_back(next);
    std::push_heap(kept.begin(), kept.end(), by_bound);
    if (kept.size() <= kSubset) continue;
    std::pop_heap(kept.begin(), kept.end(), by_bound);
    kept.pop_back();
  }
  for (Combination& combination : kept) {
    const ClockedGemm gemm = gemm_of(parts, problem, *combination.walk, *combination.groups);
    combination.bound = bound_of(gemm, *combination.walk, *combination.groups);
  }
  return kept;
}

/// Puts the combinations in the order in which they are solved. First comes one for each exchange,
/// the one of least bound: the sooner a good config is known, the fewer others are solved. All
/// others follow by their bounds. Returns the first of these.
std::vector<Combination>::iterator in_order(std::vector<Combination>& list,
                                            const std::vector<GroupCollectives>& collectives) {
  std::sort(list.begin(), list.end(), by_bound);
  std::vector<bool> seen(collectives.size());
  return std::stable_partition(list.begin(), list.end(), [&](const Combination& each) {
    const auto exchange = static_cast<std::size_t>(each.groups - collectives.data());
    if (seen[exchange]) return false;
    return static_cast<bool>(seen[exchange] = true);
  });
}

/// Solves combinations, and offers what they give.
class CombinationSearch {
 public:
  CombinationSearch(const Model::Parts& parts, const Problem& problem, const CutNumbers& numbers,
                    BestConfigs& best)
      : parts_(parts), problem_(problem), numbers_(numbers), best_(best) {}

  void solve(const Combination& combination) {
    const CombinationSolver solver(parts_, problem_, combination, numbers_);
    auto scored = solver.solve(best_.limit());
    if (!scored) return;
    if (solver.is_spread()) spread_.push_back({scored->time.count(), &combination});
    best_.offer(std::move(*scored));
  }

  /// Refines the combinations that may still become the first; of long ones at most `most`.
  void refine_first(std::size_t most) {
    std::ranges::sort(spread_, {}, &Spread::time);
    std::size_t refined = 0;
    for (const Spread& each : spread_) {
      if (each.time >= best_.first() * (1 + kSpreadLoss) || best_.stopped()) return;
      const Combination& combination = *each.combination;
      const CombinationSolver solver(parts_, problem_, combination, numbers_);
      if (solver.is_long() && ++refined > most) continue;
      auto finer = solver.refine(std::min(each.time, best_.limit()));
      if (!finer) continue;
      best_.replace([&](const Config& config) { return is_of(combination, config); },
                    std::move(*finer));
    }
  }

 private:
  /// A combination that was solved without some of its cuts.
  struct Spread {
    double time = 0;
    const Combination* combination = nullptr;
  };

  static bool is_of(const Combination& combination, const Config& config) {
    const auto* own = std::get_if<Signaled>(&config);
    return own != nullptr && combination.walk->tile == own->tile &&
           combination.walk->swizzle == own->swizzle &&
           combination.groups->exchange == exchange_of(*own);
  }

  const Model::Parts& parts_;
  const Problem& problem_;
  CutNumbers numbers_;
  BestConfigs& best_;
  std::vector<Spread> spread_{};
};

/// The probed collectives that can run beside a generated GEMM.
std::vector<CollectiveKey> probed_keys(const Model::Parts& parts, const ClassGemms& gemms,
                                       const Problem& problem, Space space) {
  const Collective collective = collective_of(problem.op);
  std::vector<CollectiveKey> keys = parts.collectives.overlap_settings(collective, problem.ranks);
  // The subset has persistent GEMMs only, which are ranked by one tile time.
  if (space != Space::subset) {
    for (const Transport transport : {Transport::ring, Transport::symmetric}) {
      const CollectiveKey key{collective, problem.ranks, kHandedOver, transport};
      if (gemms.contention.knows(key)) keys.push_back(key);
    }
  }
  const bool peers_can = problem.m / row_blocks(problem) * problem.n < kMostPeerElements;
  std::erase_if(keys, [&](const CollectiveKey& key) {
    return key.comm_ctas >= parts.platform.sms ||
           (key.transport == Transport::peer_access && !peers_can);
  });
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
    // A wait of the driver keeps symmetric kernels apart in any case (run/exchange/collective.cpp),
    // and copy engines have no other.
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

void ModelOf<Signaled>::search(const Model::Parts& parts, const Problem& problem, Launch launch,
                               Space space, BestConfigs& best) const {
  const auto gemms = parts.generated_gemms_of(problem.elements);
  if (!gemms) return;
  const std::vector<GroupCollectives> collectives =
      all_collectives(parts, **gemms, problem, launch, space);
  if (collectives.empty()) return;
  const std::vector<Walk> list = walks(parts.limits, problem, parts.platform.sms, space);
  std::vector<Combination> combinations =
      (space == Space::subset ? promising_combinations : all_combinations)(parts, problem, list,
                                                                           collectives);
  CombinationSearch solver(parts, problem, cut_numbers(space), best);
  const auto by_bounds = in_order(combinations, collectives);
  for (auto each = combinations.begin(); each != combinations.end() && !best.stopped(); ++each) {
    if (each->bound < best.limit()) {
      solver.solve(*each);
    } else if (each >= by_bounds) {
      break;  // ascending: nothing after it can enter
    }
  }
  solver.refine_first(space == Space::subset ? kMostRefinedOfSubset : kMostRefined);
}

}  // namespace overlaptune
