#include "strategies/peer_store/sim_execution.hpp"

#include <algorithm>

#include "machine/simulator/contention.hpp"

namespace overlaptune::sim {
namespace {

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
