#include "machine/sim/plan.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/gpu.hpp"

namespace overlaptune::sim {
namespace {

Expected<void> check(const Profile& profile, const Problem& problem, const Config& config) {
  const bool sequential = config.strategy == Strategy::sequential;
  const int least_ctas = needs_ctas(config) ? 1 : 0;
  const bool known =
      sequential || config.strategy == Strategy::chunked || config.strategy == Strategy::signaled;
  if (!known) {
    return bad_input(fmt::format("strategy {}: not simulated", to_string(config.strategy)));
  }
  if (config.comm_ctas < least_ctas || config.comm_ctas >= profile.gpu.sms) {
    return bad_input(fmt::format("comm_ctas = {}: expected {} to {}", config.comm_ctas, least_ctas,
                                 profile.gpu.sms - 1));
  }
  if (config.strategy == Strategy::signaled) {
    if (problem.op == Op::all_gather_gemm) {
      return bad_input("strategy signaled: all_gather_gemm sends before its GEMM");
    }
    if (!is_feasible(config.tile, gpu_limits(profile.gpu.compute_capability))) {
      return bad_input(fmt::format("tile {} stages={} cluster={}: does not fit {}",
                                   to_string(config.tile), config.tile.stages, config.tile.cluster,
                                   profile.gpu.model));
    }
    if (config.raster < 1) return bad_input("raster = 0: expected at least 1 with a tile");
  } else if (!config.tile.is_library()) {
    return bad_input(fmt::format("tile {}: strategy {} runs the library's", to_string(config.tile),
                                 to_string(config.strategy)));
  }
  return {};
}

Expected<Plan> plan_signaled(const Profile& profile, const Problem& problem, const Config& config) {
  const TileOrder order = tile_order(problem, config.tile, config.raster);
  const auto cuts = group_cuts(order, config);
  if (!cuts) return tl::make_unexpected(cuts.error());
  const GemmKernel kernel{.order = order,
                          .k = problem.k,
                          .tile = config.tile,
                          .sms = profile.gpu.sms - config.comm_ctas,
                          .more_sms = config.comm_ctas,
                          .persistent = config.comm_ctas > 0};
  Plan plan{.coupling = Coupling::signaled};
  std::vector<std::int64_t> ends;
  Cut begin;
  for (const Cut& end : *cuts) {
    const bool wide = config.transport == Transport::symmetric_then_ring && &end == &cuts->back();
    const auto run = collective_run(profile, collective_of(problem.op),
                                    static_cast<double>((end.bytes - begin.bytes).count),
                                    problem.ranks, wide ? 0 : config.comm_ctas,
                                    wide ? Transport::ring : beside_gemm(config.transport));
    if (!run) return tl::make_unexpected(run.error());
    const bool in_place = config.transport == Transport::peer_access;
    const auto moved = in_place ? 0 : static_cast<double>(reorder_bytes(problem, begin, end).count);
    plan.collectives.push_back({.run = *run,
                                .reorder = moved / profile.launch.reorder_rate,
                                .reorder_slowed = reorder_slowed(profile, config.comm_ctas),
                                .takes = config.comm_ctas == 0 ? share_taken(profile) : 0});
    ends.push_back(end.tiles);
    begin = end;
  }
  const TileTimes times = tile_times(profile, kernel);
  plan.gemms.push_back({.times = times, .schedule = tile_schedule(kernel, times, ends)});
  return plan;
}

/// `sequential` is one chunk whose GEMM has all SMs.
Expected<Plan> plan_chunks(const Profile& profile, const Problem& problem, const Config& config) {
  const bool sequential = config.strategy == Strategy::sequential;
  const auto rows = chunk_rows(problem, sequential ? 1 : config.chunks);
  if (!rows) return tl::make_unexpected(rows.error());
  const int sms = profile.gpu.sms - (sequential ? 0 : config.comm_ctas);
  const bool gather = problem.op == Op::all_gather_gemm;
  Plan plan{.coupling = gather ? Coupling::collective_first : Coupling::gemm_first};
  for (const std::int64_t block_rows : *rows) {
    const std::int64_t m = block_rows * row_blocks(problem);
    const std::int64_t row_elements = gather ? problem.k : problem.n;
    const auto run =
        collective_run(profile, collective_of(problem.op),
                       static_cast<double>(m) * static_cast<double>(row_elements * kElementBytes),
                       problem.ranks, config.comm_ctas, config.transport);
    if (!run) return tl::make_unexpected(run.error());
    plan.collectives.push_back({.run = *run});
    const GemmKernel kernel =
        sequential
            ? library_kernel(profile, 1, problem.m, problem.n, problem.k, sms)
            : library_kernel(profile, row_blocks(problem), block_rows, problem.n, problem.k, sms);
    plan.gemms.push_back(plan_gemm(profile, kernel));
  }
  return plan;
}

}  // namespace

double share_taken(const Profile& profile) {
  constexpr double kDefaultCtas = 24;  // NCCL 2.28 between H200s: 16 to 32
  return std::min(0.5, kDefaultCtas / profile.gpu.sms);
}

double reorder_slowed(const Profile& profile, int sms) {
  if (sms == 0) return 1;
  return std::max(1.0, profile.launch.reorder_rate / (sms * profile.launch.reorder_rate_per_sm));
}

PlannedGemm plan_gemm(const Profile& profile, const GemmKernel& kernel) {
  const TileTimes times = tile_times(profile, kernel);
  const std::array<std::int64_t, 1> all{kernel.order.tiles()};
  return {.times = times, .schedule = tile_schedule(kernel, times, all)};
}

Work Plan::work() const {
  Work work;
  for (const PlannedGemm& gemm : gemms) work.flops += gemm.times.flops;
  for (const PlannedCollective& collective : collectives) {
    work.wire_bytes += collective.run.wire_bytes;
  }
  return work;
}

Expected<Plan> make_plan(const Profile& profile, const Problem& problem, const Config& config) {
  if (const auto good = check(profile, problem, config); !good) {
    return tl::make_unexpected(good.error());
  }
  return config.strategy == Strategy::signaled ? plan_signaled(profile, problem, config)
                                               : plan_chunks(profile, problem, config);
}

}  // namespace overlaptune::sim
