#include "strategies/signaled/model.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/config/rules.hpp"
#include "strategies/signaled/model_cut_choice.hpp"
#include "strategies/signaled/model_solver.hpp"
#include "strategies/signaled/traits.hpp"

namespace overlaptune {
namespace {

using namespace signaled;

/// The collectives of a config's groups. Error: one of them was never probed.
Expected<GroupCollectives> collectives_of(const Model::Parts& parts, const ClassGemms& gemms,
                                          const Problem& problem, const Signaled& config,
                                          Launch launch) {
  const CollectiveKey key = key_of(problem, config);
  const auto curve = parts.collectives.curve(key);
  if (!curve) return error_of(curve);
  if (!config.is_persistent() && !gemms.contention.knows(key)) {
    return bad_input(
        "config: comm_ctas = 0: no such collective beside a GEMM is stored for this platform: "
        "probe it first");
  }
  if (config.wait == Wait::kernel && !parts.launch.kernel_trigger) {
    return bad_input(
        "config: wait = kernel: launch cost 'kernel_trigger' is not stored for this platform: "
        "probe it first");
  }
  const BackgroundLoad background = background_of(parts, gemms, problem);
  if (key.transport == Transport::copy_engine) {
    auto copies = groups_by_copies(parts, gemms, problem, config, **curve, launch, background);
    if (copies) return *copies;
    return bad_input(
        "model: no exchange by copy engines with all SMs is stored for this "
        "platform: probe it first");
  }
  GroupCollectives groups =
      group_collectives(parts, gemms, problem, config, **curve, launch, background);
  if (config.transport.last == key.transport) return groups;
  const auto last =
      parts.collectives.curve({key.collective, key.ranks, kNcclsChoice, config.transport.last});
  if (!last) return error_of(last);
  return with_last_group(groups, config.transport.last, **last);
}

}  // namespace

Expected<Prediction> ModelOf<Signaled>::predict(const Model::Parts& parts, const Work& work,
                                                Launch launch) const {
  const auto gemms = parts.generated_gemms_of(work.problem().elements);
  if (!gemms) return error_of(gemms);
  const Problem& problem = work.problem();
  const auto groups = collectives_of(parts, **gemms, problem, work.config_as<Signaled>(), launch);
  if (!groups) return error_of(groups);
  const TiledWork& tiled = work.tiled();
  const GemmWork tiles = work_beside(*groups, tiled.kernel.tile, tiled.order, problem.k);
  const ClockedGemm gemm =
      clocked(parts.clock, problem, tiles, (*gemms)->generated->tile_time(tiles), *groups);
  const std::vector<CutPoint> points = cut_points(tiled.cuts);
  const PartitionProblem partition = partition_problem(*groups, gemm, tiled.cuts, points);
  std::vector<std::size_t> ends(tiled.cuts.size());
  std::iota(ends.begin(), ends.end(), 1);

  Prediction prediction;
  const std::vector<Piece> all = pieces(partition, ends);
  prediction.timeline = overlap(groups->start, all, partition.rates);
  GroupTimes& last = prediction.timeline.groups.back();
  last.end += us(groups->drain);
  last.exposed += us(groups->drain);
  prediction.time = last.end;
  for (const Piece& piece : all) {
    prediction.gemm_alone += us(piece.production);
    prediction.collective_alone += us(piece.consumption);
  }
  prediction.collective_alone += us(groups->drain);
  if (groups->key.transport == Transport::peer_access) {
    // One kernel takes all groups, and its gaps are part of its time.
    prediction.collective_alone += us(groups->rates.gap) * static_cast<double>(all.size() - 1);
  }
  return prediction;
}

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

std::optional<Scored> ModelOf<Signaled>::adapted(const Model::Parts& parts, const Problem& problem,
                                                 Launch launch, const Config& config) const {
  const auto& own = std::get<Signaled>(config);
  const auto gemms = parts.generated_gemms_of(problem.elements);
  if (!gemms) return std::nullopt;
  const auto groups = collectives_of(parts, **gemms, problem, own, launch);
  if (!groups) return std::nullopt;
  const int swizzle = most_swizzle(problem, own.tile, own.swizzle);
  const Walk walk{own.tile, swizzle, tile_order(problem, own.tile, swizzle)};
  const Combination combination{.walk = &walk, .groups = &*groups};
  const CombinationSolver solver(parts, problem, combination, kSubsetCuts);
  constexpr double kAnyTime = std::numeric_limits<double>::infinity();
  return solver.is_spread() ? solver.refine(kAnyTime) : solver.solve(kAnyTime);
}

}  // namespace overlaptune
