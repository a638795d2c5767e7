#include "machine/sim/peer_store.hpp"

#include <algorithm>

#include "core/staging.hpp"

namespace overlaptune::sim {
namespace {

/// `StorePlan::apart`.
constexpr double kApart = 0.015;
/// What stores of tiles by TMA reach, as a share of what plain stores of many CTAs do.
constexpr double kTileRate = 0.95;

/// The tiles as they run at once: the panels of one row block, as a rank's tiles follow one
/// another. A row block that ends within a tile has panels of its own.
TileOrder at_once(const StoreOrder& order) {
  TileOrder tiles = order.part;
  if (!order.owns_blocks) return tiles;
  if (tiles.block_rows % tiles.block_m == 0) {
    tiles.block_rows *= order.ranks;
  } else {
    tiles.blocks = order.ranks;
    tiles.raster = std::max(1, tiles.raster / order.ranks);
  }
  return tiles;
}

/// The stores, as a collective that slows the GEMM. Its CTAs are the GEMM's own, which wait for the
/// links: they never request more than the links carry.
Expected<CollectiveRun> as_collective(const Profile& profile, const Work& work, double sent,
                                      double busy) {
  constexpr int kCtas = 8;  // their factors count, not their number
  auto run = collective_run(profile, work.collective(),
                            static_cast<double>(work.tiled().cuts.back().bytes.count),
                            work.problem().ranks, kCtas, Transport::peer_access);
  if (!run) return run;
  run->wire_bytes = sent;
  run->link_load = busy;
  // Copies read what they send from memory; stores from shared memory do not.
  run->demand = busy / 2;
  return run;
}

}  // namespace

Expected<Schedule> SimulationOf<PeerStore>::schedule(const Profile& profile, const Work& work) {
  const Problem& problem = work.problem();
  const auto& config = work.config_as<PeerStore>();
  const TiledWork& tiled = work.tiled();
  const GpuLimits& limits = gpu_limits(profile.gpu.compute_capability);
  const Staging staging = staging_of(config.tile, limits, problem.elements);
  StorePlan plan{.order = store_order(problem, tiled.order, tiled.cuts),
                 .sms = profile.gpu.sms,
                 .adds_up = traits_of(problem.op).sums,
                 .spreads = traits_of(problem.op).in_place(),
                 .in_turn = staging.in_turn,
                 .apart = kApart,
                 .held = staging.held(),
                 .link_rate = kTileRate * profile.copy.store_rate,
                 .signal = profile.copy.store_latency + profile.launch.signal};
  const GemmKernel kernel{
      .order = at_once(plan.order), .k = problem.k, .tile = config.tile, .sms = plan.sms};
  TileTimes times = tile_times(profile, kernel);
  const StoreCosts costs = store_costs(config.tile, limits, problem.elements);
  for (double* time : {&times.whole, &times.right, &times.bottom, &times.corner}) {
    *time += costs.tile.count();
  }
  times.kernel_start += limits.store_run.count();
  const double peers = problem.ranks - 1;
  const double once = static_cast<double>(tiled.cuts.back().bytes.count) * peers / problem.ranks;
  if (plan.adds_up) {
    times.memory_bytes += 2 * once;  // into the slots, and from them
    plan.receive = limits.store_receive.count();
    plan.add_up = peers * costs.add.count();
  }
  const double sent = plan.spreads ? 2 * once : once;
  const double waves = static_cast<double>(plan.order.tiles()) / plan.sms;
  const double busy = std::min(1.0, sent / plan.link_rate / (waves * times.whole));
  const auto run = as_collective(profile, work, sent, busy);
  if (!run) return error_of(run);
  plan.times = times;
  return Schedule{
      .gemms = {{.times = times}}, .collectives = {{.run = *run}}, .stores = std::move(plan)};
}

}  // namespace overlaptune::sim
