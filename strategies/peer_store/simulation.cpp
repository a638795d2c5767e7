#include "strategies/peer_store/simulation.hpp"

#include <algorithm>

#include "core/config/staging.hpp"

namespace overlaptune::sim {
namespace {

/// The tiles as they run at once: the panels of one row block, as a rank's tiles follow one
/// another. A row block that ends within a tile has panels of its own.
TileOrder at_once(const StoreOrder& order) {
  TileOrder tiles = order.part;
  if (order.owns_blocks) tiles.blocks = order.ranks;
  return walked_together(tiles);
}

/// The share of the cost of a subtile that the next tile does not hide. Where consumers take turns
/// it hides as much as of a plain store. With a single buffer each subtile waits for its load.
double shown_share(const Staging& staging, const GpuProfile& gpu) {
  return staging.ping_pong && staging.buffers > 1 ? 1 - gpu.hidden_store : 1;
}

/// The stores, as a collective that slows the GEMM. `busy`: share of the time in which the links
/// are.
Expected<CollectiveRun> as_collective(const Profile& profile, const Work& work, double sent,
                                      double busy) {
  constexpr int kCtas = 8;  // their factors count, not their number
  auto run = collective_run(profile, work.collective(),
                            static_cast<double>(work.tiled().cuts.back().bytes.count),
                            work.problem().ranks, kCtas, Transport::peer_access);
  if (!run) return run;
  run->wire_bytes = sent;
  run->link_load = busy;
  run->demand = busy * profile.store->demand;
  run->queue = queue_of(*run->profile, run->demand);
  return run;
}

}  // namespace

Expected<Schedule> SimulationOf<PeerStore>::schedule(const Profile& profile, const Work& work) {
  const Problem& problem = work.problem();
  const auto& config = work.config_as<PeerStore>();
  const TiledWork& tiled = work.tiled();
  const GpuLimits& limits = gpu_limits(profile.gpu.compute_capability);
  const Staging staging = staging_of(config.tile, limits, problem.elements);
  const StoreProfile& store = *profile.store;
  StorePlan plan{.order = store_order(problem, tiled.order, tiled.cuts),
                 .sms = profile.gpu.sms,
                 .adds_up = traits_of(problem.op).sums,
                 .spreads = traits_of(problem.op).in_place(),
                 .ping_pong = staging.ping_pong,
                 .apart = store.apart_share,
                 .held = staging.held(),
                 .link_rate = store.tile_rate,
                 .signal = profile.copy.store_latency + profile.launch.signal};
  const GemmKernel kernel{
      .order = at_once(plan.order), .k = problem.k, .tile = config.tile, .sms = plan.sms};
  TileTimes times = tile_times(profile, kernel);
  const double subtiles = staging.subtiles * shown_share(staging, profile.gpu);
  for (double* time : {&times.whole, &times.right, &times.bottom, &times.corner}) {
    *time += subtiles * store.subtile;
  }
  times.kernel_start += store.run;
  const double peers = problem.ranks - 1;
  const double once = static_cast<double>(tiled.cuts.back().bytes.count) * peers / problem.ranks;
  if (plan.adds_up) {
    times.memory_bytes += 2 * once;  // into the slots, and from them
    plan.receive = store.receive;
    plan.sum_gap = store.sum_gap;
    plan.add_up = peers * subtiles * store.add_subtile;
  }
  const double sent = plan.spreads ? 2 * once : once;
  const double waves = static_cast<double>(plan.order.tiles()) / plan.sms;
  const double alone = waves * times.whole;
  const double busy = std::min(1.0, sent / plan.link_rate / alone);
  plan.link_rate /= 1 + store.beside_share * std::min(1.0, alone * plan.link_rate / sent);
  const auto run = as_collective(profile, work, sent, busy);
  if (!run) return error_of(run);
  plan.times = times;
  return Schedule{
      .gemms = {{.times = times}}, .collectives = {{.run = *run}}, .stores = std::move(plan)};
}

}  // namespace overlaptune::sim
