#include "machine/simulator/schedule.hpp"

#include <algorithm>
#include <array>

namespace overlaptune::sim {

double share_taken(const Profile& profile) {
  return std::min(0.5, static_cast<double>(profile.nccl_ctas) / profile.gpu.sms);
}

double reorder_slowed(const Profile& profile, int sms) {
  if (sms == kHandedOver) return 1;
  return std::max(1.0, profile.launch.reorder_rate / (sms * profile.launch.reorder_rate_per_sm));
}

PeerProfile taken_once(const Profile& profile, const CollectiveRun& whole) {
  const double scale = whole.latency / whole.profile->times.values.front();
  return {.start = profile.peer->start * scale, .finish = profile.peer->finish * scale};
}

CollectiveRun as_group(const Profile& profile, CollectiveRun run) {
  const PeerProfile apart = taken_once(profile, run);
  run.time -= apart.start + apart.finish;
  run.latency -= apart.start + apart.finish;
  return run;
}

PlannedGemm plan_gemm(const Profile& profile, const GemmKernel& kernel) {
  const TileTimes times = tile_times(profile, kernel);
  const std::array<std::int64_t, 1> all{kernel.order.tiles()};
  return {.times = times, .schedule = tile_schedule(kernel, times, all)};
}

Expected<Schedule> schedule_parts(const Profile& profile, const Work& work,
                                  const LibraryParts& parts) {
  const Problem& problem = work.problem();
  const bool gather = traits_of(problem.op).exchanges_first;
  Schedule schedule{.coupling = gather ? Coupling::collective_first : Coupling::gemm_first};
  for (const std::int64_t block_rows : work.chunked().rows) {
    const std::int64_t m = block_rows * row_blocks(problem);
    const auto run = collective_run(
        profile, work.collective(),
        static_cast<double>(m) *
            static_cast<double>(exchanged_columns(problem) * bytes_of(exchanged_dtype(problem))),
        problem.ranks, parts.comm_ctas, parts.transport);
    if (!run) return error_of(run);
    schedule.collectives.push_back({.run = *run});
    const int blocks = parts.one_product ? 1 : row_blocks(problem);
    const std::int64_t rows = parts.one_product ? problem.m : block_rows;
    const GemmKernel kernel =
        library_kernel(profile, problem.elements, blocks, rows, problem.n, problem.k, parts.sms);
    schedule.gemms.push_back(plan_gemm(profile, kernel));
  }
  return schedule;
}

Load Schedule::work() const {
  Load work;
  for (const PlannedGemm& gemm : gemms) {
    work.flops += gemm.times.flops;
    work.loaded_bytes += gemm.times.loaded_bytes;
    work.memory_bytes += gemm.times.memory_bytes;
  }
  for (const PlannedCollective& collective : collectives) {
    work.wire_bytes += collective.run.wire_bytes;
  }
  return work;
}

}  // namespace overlaptune::sim
