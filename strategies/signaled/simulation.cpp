#include "strategies/signaled/simulation.hpp"

namespace overlaptune::sim {
namespace {

/// The collective of one wave group, and the copy of its result into place.
Expected<PlannedCollective> plan_group(const Profile& profile, const Work& work, const Cut& begin,
                                       const Cut& end) {
  const auto& config = work.config_as<Signaled>();
  const bool is_last = end == work.tiled().cuts.back();
  const bool by_nccls_choice = is_last && config.transport.last != config.transport.beside_gemm;
  auto run = collective_run(profile, work.collective(),
                            static_cast<double>((end.bytes - begin.bytes).count),
                            work.problem().ranks, by_nccls_choice ? kNcclsChoice : config.comm_ctas,
                            is_last ? config.transport.last : config.transport.beside_gemm);
  if (!run) return error_of(run);
  const bool in_place = config.transport.beside_gemm == Transport::peer_access;
  if (in_place) run = as_group(profile, *run);
  const auto moved =
      in_place ? 0 : static_cast<double>(reorder_bytes(work.problem(), begin, end).count);
  return PlannedCollective{.run = *run,
                           .reorder = moved / profile.launch.reorder_rate,
                           .reorder_slowed = reorder_slowed(profile, config.comm_ctas),
                           .takes = config.is_persistent() ? 0 : share_taken(profile)};
}

}  // namespace

Expected<Schedule> SimulationOf<Signaled>::schedule(const Profile& profile, const Work& work) {
  const auto& config = work.config_as<Signaled>();
  const GemmKernel kernel{.order = work.tiled().order,
                          .k = work.problem().k,
                          .tile = config.tile,
                          .sms = profile.gpu.sms - config.comm_ctas,
                          .more_sms = config.comm_ctas,
                          .persistent = config.is_persistent()};
  Schedule schedule{.coupling = Coupling::signaled, .wait = config.wait};
  if (config.transport.beside_gemm == Transport::peer_access) {
    const auto whole = collective_run(
        profile, work.collective(), static_cast<double>(work.tiled().cuts.back().bytes.count),
        work.problem().ranks, config.comm_ctas, Transport::peer_access);
    if (!whole) return error_of(whole);
    schedule.peer = taken_once(profile, *whole);
  }
  std::vector<std::int64_t> ends;
  Cut begin;
  for (const Cut& end : work.tiled().cuts) {
    auto collective = plan_group(profile, work, begin, end);
    if (!collective) return error_of(collective);
    schedule.collectives.push_back(*collective);
    ends.push_back(end.tiles);
    begin = end;
  }
  const TileTimes times = tile_times(profile, kernel);
  schedule.gemms.push_back({.times = times, .schedule = tile_schedule(kernel, times, ends)});
  return schedule;
}

}  // namespace overlaptune::sim
