#include "strategies/waiting/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/config/rules.hpp"
#include "model/clock_slowdown.hpp"
#include "strategies/waiting/arrivals.hpp"
#include "strategies/waiting/model_arrivals.hpp"
#include "strategies/waiting/model_partition.hpp"

namespace overlaptune {

using waiting::Arrivals;
using waiting::arrivals_of;
using waiting::PushingTiles;
using waiting::RowsSoFar;

namespace {

/// Chunks of columns that are tried. Copies: one of a chunk has the same gap as any other, so that
/// more of them brought nothing (docs/results/2026-11-29-h200-nvlink-x2.md, "Columns in chunks").
/// Where tiles push, chunks of fewer steps would be counted after the next one has been stored.
std::vector<int> tried_chunks(const Problem& problem, bool by_tiles) {
  constexpr std::int64_t kLeastSteps = 4;
  if (!by_tiles) return {2, 4};
  std::vector<int> list{1};
  for (const int chunks : {2, 4, 8, 16}) {
    const std::int64_t steps = chunk_columns(problem, chunks) / block_k_of(problem.elements);
    if (steps >= kLeastSteps) list.push_back(chunks);
  }
  return list;
}

/// A generated GEMM beside the arrivals, at the clock that it will run at.
struct WaitingGemm {
  double tile_time = 0;
  double per_launch = 0;
  double spread = 0;
  int sms = 0;
  int ctas = 1;  ///< that share a tile
  double slowdown = 1;
  PushingTiles pushing{};  ///< where tiles push

  [[nodiscard]] double time(std::int64_t tiles) const {
    return tiles == 0 ? 0 : produced(tile_time, tiles, sms, spread);
  }
};

bool is_narrow(const Tile& tile) {
  constexpr double kNarrow = 0.015;  // operands that are loaded for each multiply-add
  return 1.0 / tile.block_m + 1.0 / tile.block_n > kNarrow;
}

/// By how much the tiles of a kernel that waits take longer than those of a plain one, where all
/// rows are there. Operands come no faster to a narrow tile than its loading thread asks for them
/// (docs/results/kernels.md, "The loading thread": 4 to 8 %). Clusters of two: 2 H200
/// (docs/results/model-notes.md, "A GEMM that waits").
double waiting_factor(const Tile& tile) {
  return 1 + (is_narrow(tile) ? 0.06 : 0) + (tile.cluster > 1 ? 0.03 : 0);
}

/// By how much tiles take longer where a rank's own ones push.
struct PushingFactors {
  double pushing = 1;  ///< those that do
  double own = 1;      ///< the own ones in the mean
};

/// A store holds a tile up: it reads a stage, which is released later. And the loads of a narrow
/// tile have no time to spare for a storing warp that releases stages (docs/results/kernels.md,
/// "Tiles that push").
PushingFactors pushing_factors(const Tile& tile, const ArrivalOrder& order, double tile_time) {
  constexpr double kStored = 1e5;  // bytes per microsecond
  const double held = bytes_of_pusher(order) / kStored;
  const double longer = (is_narrow(tile) ? 0.08 : 0) + held / tile_time;
  return {.pushing = 1 + longer, .own = 1 + longer * part_that_pushes(order.block)};
}

/// `gemm`: the launch whose tiles push.
PushingTiles pushing_tiles(const WaitingGemm& gemm, const PushingFactors& factors, const Tile& tile,
                           const ArrivalOrder& order) {
  const std::int64_t before = tiles_before_pushers(order.block, gemm.sms);
  const std::int64_t last = std::min(before + gemm.sms, order.block.tiles());
  const double begin = gemm.per_launch + factors.own * gemm.time(before);
  return {.begin = begin,
          .end = begin + factors.pushing * (gemm.time(last) - gemm.time(before)),
          .chunk_gap = is_narrow(tile) ? 0.3 : 0,
          .look = is_narrow(tile) ? 0.3 : 0.1,
          .tile_time = gemm.tile_time,
          .at_once = pushers_at_once(order.block, gemm.sms)};
}

WaitingGemm gemm_of(const Model::Parts& parts, const Problem& problem, const Arrivals& arrivals,
                    const Tile& tile, const ArrivalOrder& order) {
  const GemmModel& model = *arrivals.gemms->generated;
  const int sms = parts.platform.sms - arrivals.way.comm_ctas;
  TileOrder tiles = order.block;
  tiles.blocks = order.blocks;
  GemmWork work = model.work(tile, walked_together(tiles), problem.k, sms);
  if (!shares_tiles(arrivals.way.transport)) work.ctas = 1;
  const double tile_time = model.tile_time(work) * waiting_factor(tile);
  PushingFactors factors;
  if (arrivals.by_tiles()) factors = pushing_factors(tile, order, tile_time);
  const double slowdown =
      arrivals.by_tiles()
          ? factors.own
          : std::clamp(arrivals.slowdown.gemm * arrivals.feed.gemm_factor(work, model.constants()),
                       1.0, kLargestGemmSlowdown);
  // The rows of the last rank come last.
  const double clock =
      clock_slowdown_waiting(parts.clock, problem, arrivals.background,
                             {model.produced(tile_time, order.tiles(), sms), tile},
                             arrivals.until(arrivals.bytes), {slowdown, 1}, 1.0 / order.blocks);
  WaitingGemm gemm{.tile_time = tile_time * clock,
                   .per_launch = model.per_launch(true),
                   .spread = model.constants().spread,
                   .sms = sms,
                   .ctas = work.ctas,
                   .slowdown = slowdown};
  if (arrivals.by_tiles()) gemm.pushing = pushing_tiles(gemm, factors, tile, order);
  return gemm;
}

/// When each config's GEMM and copies may start, and what the host's submissions cost.
double start_of(const Model::Parts& parts, Launch launch, const CommSetting& way,
                std::size_t groups) {
  const double start = parts.launch.start(launch);
  if (!is_eager(launch)) return start;
  // Two submissions for each copy, or one for all pushes, come before the GEMM's.
  const bool by_copies = way.transport == Transport::copy_engine;
  const double submissions = by_copies ? 2 * static_cast<double>(groups) : 1;
  return start + submissions * parts.launch.eager_submit;
}

/// `cuts`: of a config with chunks those of its groups.
ArrivalProblem arrival_problem(const Arrivals& arrivals, const WaitingGemm& gemm,
                               const ArrivalOrder& order, std::span<const Cut> cuts,
                               int chunks = 1) {
  ArrivalProblem problem{.whole = gemm.per_launch + gemm.time(order.tiles()),
                         .gap = chunks > 1 || arrivals.by_tiles() ? 0 : arrivals.gap,
                         .slowdown = gemm.slowdown};
  // Where tiles find all rows there; those that wait for chunks have the time to look.
  if (chunks > 1) problem.whole += chunks * gemm.pushing.look;
  const Cut own = arrival_cut(order, 1, 0);
  problem.points.push_back({.rest = gemm.time(order.tiles() - own.tiles), .must_end = true});
  for (const Cut& cut : cuts) {
    if (cut.tiles <= own.tiles) continue;
    const auto received = static_cast<double>((cut.bytes - own.bytes).count);
    const RowsSoFar last{
        .group = problem.points.size(), .groups = cuts.size() - 1, .bytes = received};
    problem.points.push_back(
        {.arrives = arrivals.by_tiles() ? arrivals.until_pushed(gemm.pushing, chunks)
                    : chunks > 1        ? arrivals.until(last, chunks, gemm.tile_time, gemm.ctas)
                                        : arrivals.until(received),
         .rest = gemm.time(order.tiles() - cut.tiles),
         .must_end = cut.tiles % order.block.tiles() == 0});
  }
  return problem;
}

/// The cuts that the search looks at: the ends of the swizzle groups of each row block, or some of
/// them, evenly spread, where there are many.
std::vector<Cut> candidate_cuts(const ArrivalOrder& order) {
  constexpr std::int64_t kMostCuts = 64;
  const std::int64_t swizzles = order.block.swizzle_groups();
  const std::int64_t most =
      std::min(swizzles, std::max<std::int64_t>(2, kMostCuts / (order.blocks - 1)));
  std::vector<Cut> cuts{arrival_cut(order, 0, swizzles)};
  for (int block = 1; block < order.blocks; ++block) {
    for (std::int64_t i = 1; i <= most; ++i) {
      cuts.push_back(arrival_cut(order, block, i * swizzles / most));
    }
  }
  return cuts;
}

/// A way, a tile and a swizzle, with a lower bound on their time.
struct WaitingCombination {
  double bound = 0;
  const Arrivals* arrivals = nullptr;
  Tile tile{};
  int swizzle = 1;
  ArrivalOrder order{};
  WaitingGemm gemm{};
};

WaitingCombination combination_of(const Model::Parts& parts, const Problem& problem, Launch launch,
                                  const Arrivals& arrivals, const Tile& tile, int swizzle) {
  WaitingCombination made{.arrivals = &arrivals,
                          .tile = tile,
                          .swizzle = swizzle,
                          .order = arrival_order(problem, tile, swizzle)};
  made.gemm = gemm_of(parts, problem, arrivals, tile, made.order);
  const int last = made.order.blocks - 1;
  const std::array<Cut, 2> ends{
      arrival_cut(made.order, last, made.order.block.swizzle_groups() - 1),
      arrival_cut(made.order, last, made.order.block.swizzle_groups())};
  const auto groups = static_cast<std::size_t>(last);
  ArrivalProblem rows = arrival_problem(arrivals, made.gemm, made.order, ends);
  rows.points.back().arrives -= made.gemm.tile_time;
  made.bound = start_of(parts, launch, arrivals.way, groups) + least_waiting_time(rows, groups);
  return made;
}

/// The best config of a combination in chunks of the columns, each row block one group; none where
/// none takes less than `limit`.
std::optional<Scored> best_in_chunks(const Model::Parts& parts, const Problem& problem,
                                     Launch launch, const WaitingCombination& combination,
                                     double limit) {
  const ArrivalOrder& order = combination.order;
  const CommSetting& way = combination.arrivals->way;
  std::optional<Scored> best;
  const auto blocks = static_cast<std::size_t>(order.blocks);
  const std::vector<std::int64_t> wave_groups(blocks, order.block.tiles());
  const std::vector<Cut> cuts = value_or_throw(arrival_cuts(order, wave_groups));
  std::vector<std::size_t> ends(blocks - 1);
  std::iota(ends.begin(), ends.end(), 1);
  for (const int chunks : tried_chunks(problem, combination.arrivals->by_tiles())) {
    const double time =
        start_of(parts, launch, way, ends.size() * static_cast<std::size_t>(chunks)) +
        waiting_time(arrival_problem(*combination.arrivals, combination.gemm, order, cuts, chunks),
                     ends);
    if (time >= limit) continue;
    Waiting config{.tile = combination.tile,
                   .swizzle = combination.swizzle,
                   .comm_ctas = way.comm_ctas,
                   .transport = way.transport,
                   .k_chunks = chunks,
                   .wave_groups = wave_groups};
    if (!check(problem, config, parts.capabilities)) continue;
    limit = time;
    best = Scored{std::move(config), us(time)};
  }
  return best;
}

/// The best config of a combination; none where no group count is allowed, or none takes less than
/// `limit`.
std::optional<Scored> best_of(const Model::Parts& parts, const Problem& problem, Launch launch,
                              const WaitingCombination& combination, double limit) {
  constexpr int kMostGroups = 64;
  const ArrivalOrder& order = combination.order;
  const CommSetting& way = combination.arrivals->way;
  if (combination.arrivals->by_tiles()) {
    return best_in_chunks(parts, problem, launch, combination, limit);
  }
  const auto fewest = static_cast<std::size_t>(order.blocks - 1);
  const std::vector<Cut> cuts = candidate_cuts(order);
  const ArrivalPartition best = best_arrivals(
      arrival_problem(*combination.arrivals, combination.gemm, order, cuts),
      std::max(kMostGroups, order.blocks - 1), limit - start_of(parts, launch, way, fewest));
  const double time = start_of(parts, launch, way, best.ends.size()) + best.time;
  auto in_chunks = best_in_chunks(parts, problem, launch, combination,
                                  best.ends.empty() ? limit : std::min(limit, time));
  if (in_chunks || best.ends.empty()) return in_chunks;
  Waiting config{.tile = combination.tile,
                 .swizzle = combination.swizzle,
                 .comm_ctas = way.comm_ctas,
                 .transport = way.transport,
                 .wave_groups = {order.block.tiles()}};
  std::int64_t before = order.block.tiles();
  for (const std::size_t end : best.ends) {
    config.wave_groups.push_back(cuts[end].tiles - before);
    before = cuts[end].tiles;
  }
  if (!check(problem, config, parts.capabilities)) return std::nullopt;
  return Scored{std::move(config), us(time)};
}

/// Rows of A that are multiplied with a part of B while L2 holds it. With fewer, tiles load more of
/// B than the model says beside pushes: such configs took 12 % longer than predicted in the mean,
/// at most 51 % (docs/model.md).
constexpr int kLeastRows = 256;

/// Whether the subset (docs/model.md) has this tile: the deepest pipeline that fits, and no cluster
/// or the widest one.
bool in_subset(const Tile& tile, const GpuLimits& limits, Elements elements) {
  Tile deeper = tile;
  ++deeper.stages;
  return (tile.cluster == 1 || tile.cluster == limits.largest_cluster) &&
         !is_feasible(deeper, limits, elements);
}

/// The timeline of the groups that travel; `ends` are their points.
Timeline timeline_of(const ArrivalProblem& problem, const ArrivalOrder& order,
                     std::span<const Cut> cuts, double start, double end) {
  Timeline timeline{.gemm_end = us(end)};
  double before = 0;
  double computed = problem.whole - problem.points.front().rest;  // when the GEMM has to wait
  for (std::size_t i = 1; i < problem.points.size(); ++i) {
    const double arrived = problem.points[i].arrives + static_cast<double>(i - 1) * problem.gap;
    const double stalled = std::max(0.0, arrived - std::max(before, computed));
    timeline.groups.push_back({.group = static_cast<int>(i),
                               .ready = us(start),
                               .start = us(start + before),
                               .end = us(start + arrived),
                               .exposed = us(stalled)});
    const double share =
        static_cast<double>(cuts[i].tiles - cuts[i - 1].tiles) / static_cast<double>(order.tiles());
    computed = std::max(computed, arrived) + share * problem.whole * problem.slowdown;
    before = arrived;
  }
  return timeline;
}

}  // namespace

Expected<Prediction> ModelOf<Waiting>::predict(const Model::Parts& parts, const Work& work,
                                               Launch launch) const {
  const Problem& problem = work.problem();
  const auto& config = work.config_as<Waiting>();
  const auto arrivals = arrivals_of(parts, problem, {config.comm_ctas, config.transport});
  if (!arrivals) return error_of(arrivals);
  const ArrivalOrder order = arrival_order(problem, config.tile, config.swizzle);
  const WaitingGemm gemm = gemm_of(parts, problem, *arrivals, config.tile, order);
  const std::vector<Cut>& cuts = work.tiled().cuts;
  const ArrivalProblem rows = arrival_problem(*arrivals, gemm, order, cuts, config.k_chunks);
  std::vector<std::size_t> ends(rows.points.size() - 1);
  std::iota(ends.begin(), ends.end(), 1);
  const double start = start_of(parts, launch, arrivals->way,
                                ends.size() * static_cast<std::size_t>(config.k_chunks));
  const double end = start + waiting_time(rows, ends);
  return Prediction{.time = us(end),
                    .gemm_alone = us(rows.whole),
                    .collective_alone = us(arrivals->until(arrivals->bytes)),
                    .timeline = timeline_of(rows, order, cuts, start, end)};
}

void ModelOf<Waiting>::search(const Model::Parts& parts, const Problem& problem, Launch launch,
                              Space space, BestConfigs& best) const {
  std::vector<Arrivals> ways;
  for (const CommSetting& way : waiting::ways_of(parts, problem.ranks)) {
    const bool by_tiles = tiles_push(way.transport, way.comm_ctas);
    if (by_tiles && problem.ranks > kMostRanksOfTiles) continue;
    if (const auto arrivals = arrivals_of(parts, problem, way)) ways.push_back(*arrivals);
  }
  std::vector<WaitingCombination> list;
  for (const Tile& tile : promising_tiles(parts.limits, problem)) {
    if (space == Space::subset && !in_subset(tile, parts.limits, problem.elements)) continue;
    const std::int64_t panels = arrival_order(problem, tile, 1).block.panels_per_block();
    for (const Arrivals& arrivals : ways) {
      if (arrivals.by_tiles() && !may_push(tile)) continue;
      for (const int swizzle : kTriedSwizzles) {
        if (swizzle > 1 && swizzle > panels) break;
        if (swizzle * tile.block_m < kLeastRows && 2 * swizzle <= panels) continue;
        list.push_back(combination_of(parts, problem, launch, arrivals, tile, swizzle));
      }
    }
  }
  std::ranges::sort(list, {}, &WaitingCombination::bound);
  for (const WaitingCombination& combination : list) {
    if (combination.bound >= best.limit() || best.stopped()) return;
    auto scored = best_of(parts, problem, launch, combination, best.limit());
    if (scored) best.offer(std::move(*scored));
  }
}

/// The settings of NCCL's transports stand for copies, which take no CTA. By peer access tiles that
/// may push do so one time in four. Half of the others that may move whole row blocks in chunks of
/// columns.
std::optional<Config> ModelOf<Waiting>::draw(const Problem& problem, const CommSetting& setting,
                                             Draws& draws) const {
  const std::vector<Tile>& shape = draws.shapes.deal(draws.dice);
  Waiting config{.tile = shape[draws.dice.roll(shape.size())]};
  if (setting.transport == Transport::peer_access) {
    config.comm_ctas =
        may_push(config.tile) && draws.dice.roll(4) == 0 ? kTilesPush : setting.comm_ctas;
    config.transport = setting.transport;
  }
  const bool by_tiles = tiles_push(config);
  if (by_tiles || (may_have_chunks(config.tile) && draws.dice.roll(2) == 0)) {
    const std::vector<int> chunks = tried_chunks(problem, by_tiles);
    config.k_chunks = chunks[draws.dice.roll(chunks.size())];
  }
  config.swizzle = most_swizzle(problem, config.tile, draws.swizzles.deal(draws.dice));
  const ArrivalOrder order = arrival_order(problem, config.tile, config.swizzle);
  if (by_tiles || config.k_chunks > 1) {
    config.wave_groups.assign(static_cast<std::size_t>(order.blocks), order.block.tiles());
    return config;
  }
  const std::vector<Cut> cuts = candidate_cuts(order);
  const std::size_t every = 1 + draws.dice.roll(8);
  std::vector<std::int64_t>& groups = config.wave_groups;
  for (const Cut& cut : cuts) {
    if (cut.tiles % order.block.tiles() != 0 && draws.dice.roll(every) != 0) continue;
    groups.push_back(cut.tiles);
  }
  std::adjacent_difference(groups.begin(), groups.end(), groups.begin());
  return config;
}

std::optional<Scored> ModelOf<Waiting>::adapted(const Model::Parts& parts, const Problem& problem,
                                                Launch launch, const Config& config) const {
  const auto& own = std::get<Waiting>(config);
  const auto arrivals = arrivals_of(parts, problem, {own.comm_ctas, own.transport});
  if (!arrivals) return std::nullopt;
  const WaitingCombination combination = combination_of(
      parts, problem, launch, *arrivals, own.tile, most_swizzle(problem, own.tile, own.swizzle));
  constexpr double kAnyTime = std::numeric_limits<double>::infinity();
  return best_of(parts, problem, launch, combination, kAnyTime);
}

}  // namespace overlaptune
