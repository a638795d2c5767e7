#include "machine/simulator/execution.hpp"

#include "machine/simulator/contention.hpp"
#include "strategies/peer_store/simulation.hpp"

namespace overlaptune::sim {
namespace {

// Most tiles that are run for one repetition. Beyond it several ranks share one run: with so many
// tiles the ranks hardly differ.
constexpr std::int64_t kTilesPerRepetition = 1 << 21;

// The tasks of one repetition, and what is needed to read its result.
struct Lanes {
  std::vector<Task> compute{};
  std::vector<Task> communication{};
  std::vector<std::size_t> collective_task{};  // index of each collective in `communication`
  std::vector<std::size_t> last_task{};        // the same, or of its reorder copy
  std::vector<double> gemm_ends{};             // end of each rank, in work of the compute lane
};

/// The work at which the ranks reach the end of each GEMM and each group; the slowest rank counts.
struct RankWork {
  std::vector<std::vector<double>> group_ends{};  // [gemm][group], slowest rank, from its start
  std::vector<double> gemm_work{};                // [gemm], so that the sum is the slowest rank's
  std::vector<double> rank_ends{};                // [rank], all GEMMs
};

/// `waiting` by copy engines, which no GEMM slows.
bool sends_by_copies(const Schedule& schedule) {
  return schedule.coupling == Coupling::waiting && !schedule.peer;
}

/// The time of collective `index` of a schedule with one GEMM, as the repetition's noise has it,
/// and how the two slow each other.
Task collective_task(const Setting& setting, const Schedule& schedule, std::size_t index,
                     const Noise& noise) {
  const Profile& profile = *setting.profile;
  const PlannedCollective& planned = schedule.collectives[index];
  const TileTimes& gemm = schedule.gemms[std::min(index, schedule.gemms.size() - 1)].times;
  const double level = profile.noise.collective;
  const double common = 1 + level * noise.stream("collective").normal(0);
  const double own = 1 + level * noise.stream("collectives").normal(index);
  return {.work = planned.run.time * common * own,
          .slows_other = gemm_slowdown(profile, planned.run, gemm) / (1 - planned.takes),
          .slowed = sends_by_copies(schedule) || schedule.tiles_push
                        ? 1
                        : own_slowdown(profile, planned.run, gemm)};
}

/// `waiting`: the host submits two operations for each copy, or one kernel that sends all pieces,
/// and the GEMM after them.
std::size_t submissions_of(const Schedule& schedule) {
  return sends_by_copies(schedule) ? 2 * schedule.collectives.size() : 1;
}

/// `waiting`: when the rows of each group arrive, in work of the GEMM. It works on while they
/// arrive, slowed by them, and at the rate `clock`.
std::vector<double> arrivals_of(const Setting& setting, const Schedule& schedule,
                                const Noise& noise, double clock) {
  if (schedule.coupling != Coupling::waiting) return {};
  const LaunchCosts costs = launch_costs(*setting.profile, setting.launch);
  const double gemm_start = costs.earliest(submissions_of(schedule));
  const std::size_t groups = schedule.collectives.size() / schedule.needed_after.size();
  std::vector<double> arrivals(groups + 1, 0);  // the rank's own rows are there
  const double tile = schedule.gemms[0].schedule.runs.back().time;
  const bool by_copies = sends_by_copies(schedule);
  const double slowed =
      by_copies ? 1 : collective_slowdown(*setting.profile, schedule.gemms[0].times);
  double now = 0;
  double work = 0;
  for (std::size_t i = 0; i < schedule.collectives.size(); ++i) {
    const Task task = collective_task(setting, schedule, i, noise);
    double earliest = costs.earliest(by_copies ? 2 * i : 0);
    if (!by_copies && i == 0) earliest += schedule.peer->start;
    const double start = std::max(now, earliest);
    work += std::max(0.0, start - std::max(now, gemm_start)) * clock;
    now = start + task.work * task.slowed * slowed;
    work += std::max(0.0, now - std::max(start, gemm_start)) * clock / task.slows_other;
    // A tile may begin before a chunk that it needs later.
    const double before = tile * schedule.needed_after[i / groups];
    double& arrival = arrivals[1 + i % groups];
    arrival = std::max(arrival, work + costs.signal * clock - before);
  }
  return arrivals;
}

RankWork run_tiles(const Setting& setting, const Schedule& schedule, const Noise& noise,
                   double clock) {
  std::int64_t tiles = 0;
  for (const PlannedGemm& gemm : schedule.gemms) {
    for (const TileRun& run : gemm.schedule.runs) tiles += run.tiles;
  }
  const auto ranks = static_cast<std::size_t>(setting.ranks);
  const auto different = static_cast<std::size_t>(
      std::clamp<std::int64_t>(kTilesPerRepetition / tiles, 1, setting.ranks));
  const NoiseProfile& level = setting.profile->noise;
  const double common = 1 + level.gemm * noise.stream("gemm").normal(0);
  const double spread = setting.profile->gpu.tile_spread;

  std::vector<double> arrivals = arrivals_of(setting, schedule, noise, clock);
  for (double& arrival : arrivals) arrival /= common;

  RankWork work{.rank_ends = std::vector<double>(different, 0.0)};
  double before = 0;
  for (std::size_t g = 0; g < schedule.gemms.size(); ++g) {
    std::vector<double> slowest;
    double furthest = 0;
    for (std::size_t r = 0; r < different; ++r) {
      std::vector<double> ends =
          execute(schedule.gemms[g].schedule, spread, noise.stream(r).stream(g), arrivals);
      slowest.resize(ends.size(), 0.0);
      for (std::size_t i = 0; i < ends.size(); ++i) {
        ends[i] *= common;
        slowest[i] = std::max(slowest[i], ends[i]);
      }
      work.rank_ends[r] += std::ranges::max(ends);
      furthest = std::max(furthest, work.rank_ends[r]);
    }
    work.group_ends.push_back(std::move(slowest));
    work.gemm_work.push_back(furthest - before);
    before = furthest;
  }
  work.rank_ends.resize(ranks);
  for (std::size_t r = different; r < ranks; ++r) work.rank_ends[r] = work.rank_ends[r % different];
  return work;
}

Lanes make_lanes(const Setting& setting, const Schedule& schedule, const RankWork& work,
                 const Noise& noise) {
  const Profile& profile = *setting.profile;
  const LaunchCosts costs = launch_costs(profile, setting.launch);
  Lanes lanes{.gemm_ends = work.rank_ends};
  const double trigger = schedule.wait == Wait::kernel ? costs.kernel_trigger : costs.trigger;
  std::size_t submitted = 0;
  const auto add_gemm = [&](std::size_t i) {
    const TileTimes& times = schedule.gemms[i].times;
    const double slows = collective_slowdown(profile, times);
    Task task{.work = work.gemm_work[i],
              .slows_other = sends_by_copies(schedule) ? 1 : slows,
              .gap = costs.kernel,
              .earliest = costs.earliest(submitted++)};
    if (schedule.coupling == Coupling::collective_first) {
      const std::size_t producer = lanes.last_task[i];
      task.needs = {producer, lanes.communication[producer].work, costs.kernel};
    }
    lanes.compute.push_back(task);
  };
  const auto add_collective = [&](std::size_t i) {
    const PlannedCollective& planned = schedule.collectives[i];
    Task task = collective_task(setting, schedule, i, noise);
    task.gap = schedule.coupling == Coupling::waiting ? 0 : costs.kernel;
    task.earliest = costs.earliest(submitted++);
    if (schedule.coupling == Coupling::gemm_first) {
      task.needs = {i, lanes.compute[i].work, costs.kernel};
    } else if (schedule.coupling == Coupling::signaled) {
      // The CTAs from which it takes SMs end evenly over the time of a tile.
      const double handed_over = planned.takes * schedule.gemms[0].times.whole;
      task.needs = {0, work.group_ends[0][i], trigger + handed_over};
      task.gap += trigger;  // a wait takes its time even for a signal that is there already
    }
    lanes.collective_task.push_back(lanes.communication.size());
    lanes.communication.push_back(task);
    if (planned.reorder > 0) {
      lanes.communication.push_back({.work = planned.reorder,
                                     .slowed = task.slowed * planned.reorder_slowed,
                                     .gap = costs.kernel,
                                     .earliest = costs.earliest(submitted++)});
    }
    lanes.last_task.push_back(lanes.communication.size() - 1);
  };
  // One kernel takes all groups. It is submitted once, and its CTAs see the later signals
  // themselves.
  const auto join_groups = [&](const PeerProfile& peer) {
    for (std::size_t i = 0; i < lanes.communication.size(); ++i) {
      Task& task = lanes.communication[i];
      task.earliest = lanes.communication.front().earliest;
      if (i == 0) {
        (task.needs ? task.needs->delay : task.earliest) += peer.start;
      } else {
        task.gap = 0;
        if (task.needs) task.needs->delay = costs.signal;
      }
    }
    lanes.communication.push_back({.work = peer.finish});
    lanes.last_task.back() = lanes.communication.size() - 1;
  };

  if (schedule.coupling == Coupling::signaled) add_gemm(0);
  if (schedule.coupling == Coupling::waiting) {
    submitted = submissions_of(schedule);
    add_gemm(0);
    submitted = 0;
  }
  for (std::size_t i = 0; i < schedule.collectives.size(); ++i) {
    if (schedule.coupling == Coupling::gemm_first) add_gemm(i);
    add_collective(i);
    if (schedule.coupling == Coupling::waiting) ++submitted;
    if (schedule.coupling == Coupling::collective_first) add_gemm(i);
  }
  if (schedule.collectives.empty()) add_gemm(0);
  if (schedule.peer) join_groups(*schedule.peer);
  return lanes;
}

/// The part of start..end in which no GEMM ran.
double exposed(double start, double end, const std::vector<TaskTimes>& gemms) {
  double hidden = 0;
  for (const TaskTimes& gemm : gemms) {
    hidden += std::max(0.0, std::min(end, gemm.end) - std::max(start, gemm.start));
  }
  return end - start - hidden;
}

Repetition read_result(const Lanes& lanes, const EngineRun& run, double around) {
  Repetition result;
  double communicated = 0;
  if (!run.communication.tasks.empty()) communicated = run.communication.tasks.back().end;
  const bool gemm_last = run.compute.tasks.back().end >= communicated;
  for (const double end : lanes.gemm_ends) {
    const double gemm = run.compute.progress.time_at(end);
    result.rank_times.push_back(around + (gemm_last ? std::max(gemm, communicated) : communicated));
  }
  // Half of the time around the kernels comes before them.
  const double offset = around / 2;
  result.timeline.gemm_end = us(offset + run.compute.tasks.back().end);
  for (std::size_t i = 0; i < lanes.collective_task.size(); ++i) {
    const TaskTimes& first = run.communication.tasks[lanes.collective_task[i]];
    const TaskTimes& last = run.communication.tasks[lanes.last_task[i]];
    result.timeline.groups.push_back(
        {.group = static_cast<int>(i),
         .ready = us(offset + first.ready),
         .start = us(offset + first.start),
         .end = us(offset + last.end),
         .exposed = us(exposed(first.start, last.end, run.compute.tasks))});
  }
  return result;
}

/// The times of a run at this clock.
RunTimes times_of(const Lanes& lanes, double clock) {
  const EngineRun run = run_engine(lanes.compute, lanes.communication, clock);
  RunTimes times{.all = run.end()};
  for (const TaskTimes& task : run.compute.tasks) times.gemm += task.end - task.start;
  return times;
}

}  // namespace

Background background_of(const Setting& setting, const Schedule& sequential, const Noise& noise) {
  constexpr double kTimes = 2;  // once within `sequential`, once alone
  const double around = launch_costs(*setting.profile, setting.launch).around;
  const Lanes lanes =
      make_lanes(setting, sequential, run_tiles(setting, sequential, noise, 1), noise);
  const Load work = sequential.work();
  Background background{.work = {.flops = kTimes * work.flops,
                                 .wire_bytes = kTimes * work.wire_bytes,
                                 .loaded_bytes = kTimes * work.loaded_bytes,
                                 .memory_bytes = kTimes * work.memory_bytes},
                        .other = 3 * around};
  for (const Task& task : lanes.compute) background.gemm += kTimes * task.work;
  for (const Task& task : lanes.communication) background.other += kTimes * task.work;
  return background;
}

ClockState settled_clock(const Setting& setting, const Load& work, double around,
                         const std::function<RunTimes(double factor)>& run) {
  if (setting.at_highest_clock) return {};
  const Background& background = setting.background;
  const Load all{.flops = work.flops + background.work.flops,
                 .wire_bytes = work.wire_bytes + background.work.wire_bytes,
                 .loaded_bytes = work.loaded_bytes + background.work.loaded_bytes,
                 .memory_bytes = work.memory_bytes + background.work.memory_bytes};
  ClockState state;
  for (int pass = 0; pass < 4; ++pass) {
    const RunTimes own = run(state.factor);
    const double other_gemms = background.gemm / state.factor;
    state = clock_state(*setting.profile, all,
                        {.time = around + own.all + other_gemms + background.other,
                         .gemm = own.gemm + other_gemms,
                         .at = state.factor,
                         .settled = setting.settled});
  }
  return state;
}

Execution execute(const Setting& setting, const Schedule& schedule, const Noise& noise) {
  if (schedule.stores) return execute_stores(setting, schedule, noise);
  const double around = launch_costs(*setting.profile, setting.launch).around;
  Execution execution;
  for (int i = 0; i < setting.repetitions; ++i) {
    const Noise own = noise.stream(static_cast<std::uint64_t>(i));
    const auto lanes_at = [&](double clock) {
      return make_lanes(setting, schedule, run_tiles(setting, schedule, own, clock), own);
    };
    Lanes lanes = lanes_at(execution.clock.factor);
    // All repetitions are taken from one loop, at one clock.
    if (i == 0) {
      execution.clock = settled_clock(setting, schedule.work(), around,
                                      [&](double factor) { return times_of(lanes, factor); });
      if (schedule.coupling == Coupling::waiting) lanes = lanes_at(execution.clock.factor);
    }
    const EngineRun run = run_engine(lanes.compute, lanes.communication, execution.clock.factor);
    execution.repetitions.push_back(read_result(lanes, run, around));
  }
  return execution;
}

}  // namespace overlaptune::sim
