#include "machine/simulator/contention.hpp"

#include <cmath>

namespace overlaptune::sim {
namespace {

double saturating(double load, double share, double half) {
  return 1 + share * load / (load + half);
}

/// The share of a collective's time, latency aside, in which its CTAs wait for their requests and
/// the links could carry more.
double waiting_share(const CollectiveRun& collective) {
  constexpr double kHalfAt = 1.3;  // demand
  constexpr double kSharpness = 4;
  return 1 / (1 + std::pow(collective.demand / kHalfAt, kSharpness));
}

}  // namespace

double gemm_slowdown(const Profile& profile, const CollectiveRun& beside, const TileTimes& gemm) {
  if (!profile.congestion) {
    return saturating(beside.link_load, profile.contention.gemm_share,
                      profile.contention.gemm_half);
  }
  const CongestionProfile& congestion = *profile.congestion;
  const double stores = congestion.tile_wait + gemm.stored_at_once / congestion.store_rate;
  const double loads = congestion.load_share * gemm.loaded_at_once / profile.gpu.l2_load;
  return 1 + beside.queue * (stores + loads) / gemm.whole;
}

double collective_slowdown(const Profile& profile, const TileTimes& beside) {
  if (profile.congestion) return 1;
  return saturating(beside.memory_load, profile.contention.collective_share,
                    profile.contention.collective_half);
}

double own_slowdown(const Profile& profile, const CollectiveRun& collective,
                    const TileTimes& beside) {
  if (!profile.congestion) return 1;
  const CongestionProfile& congestion = *profile.congestion;
  const double latency = collective.latency / collective.time;
  const double waiting = waiting_share(collective);
  const double share = latency * congestion.latency_share +
                       (1 - latency) * (waiting * collective.profile->wait_share +
                                        (1 - waiting) * congestion.link_share);
  return saturating(beside.memory_load, share, congestion.load_half);
}

}  // namespace overlaptune::sim
