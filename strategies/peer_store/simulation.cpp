#include "strategies/peer_store/simulation.hpp"

#include <algorithm>

#include "core/config/staging.hpp"
#include "machine/simulator/contention.hpp"

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

/// The plan of a schedule. The stores slow the GEMM as the collective of the schedule does, at all
/// times.
StorePlan slowed_plan(const Schedule& schedule, const Profile& profile) {
  StorePlan plan = *schedule.stores;
  TileTimes& times = plan.times;
  const double factor = gemm_slowdown(profile, schedule.collectives.front().run, times);
  for (double* time : {&times.whole, &times.right, &times.bottom, &times.corner}) *time *= factor;
  return plan;
}

StoreVariation variation_of(const Setting& setting, const Noise& noise, double clock) {
  const NoiseProfile& level = setting.profile->noise;
  return {.clock = clock,
          .gemm = 1 + level.gemm * noise.stream("gemm").normal(0),
          .link = 1 + level.collective * noise.stream("collective").normal(0),
          .spread = setting.profile->gpu.tile_spread,
          .noise = noise};
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

Execution execute_stores(const Setting& setting, const Schedule& schedule, const Noise& noise) {
  const LaunchCosts costs = launch_costs(*setting.profile, setting.launch);
  const StorePlan plan = slowed_plan(schedule, *setting.profile);
  const double before = costs.earliest(0);
  Execution execution;
  for (int i = 0; i < setting.repetitions; ++i) {
    const Noise own = noise.stream(static_cast<std::uint64_t>(i));
    // All repetitions are taken from one loop, at one clock.
    if (i == 0) {
      execution.clock = settled_clock(setting, schedule.work(), costs.around, [&](double factor) {
        const StoreRun run = run_stores(plan, variation_of(setting, own, factor));
        const double end = *std::max_element(run.rank_ends.begin(), run.rank_ends.end());
        return RunTimes{.all = before + end, .gemm = run.timeline.gemm_end.count()};
      });
    }
    StoreRun run = run_stores(plan, variation_of(setting, own, execution.clock.factor));
    Repetition& repetition = execution.repetitions.emplace_back();
    for (const double end : run.rank_ends) {
      repetition.rank_times.push_back(costs.around + before + end);
    }
    const Microseconds offset = us(costs.around / 2 + before);
    repetition.timeline = std::move(run.timeline);
    repetition.timeline.gemm_end += offset;
    for (GroupTimes& group : repetition.timeline.groups) {
      group.ready += offset;
      group.start += offset;
      group.end += offset;
    }
  }
  return execution;
}

}  // namespace overlaptune::sim
