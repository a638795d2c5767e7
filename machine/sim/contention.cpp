#include "machine/sim/contention.hpp"

namespace overlaptune::sim {
namespace {

double saturating(double load, double share, double half) {
  return 1 + share * load / (load + half);
}

}  // namespace

double gemm_slowdown(const Profile& profile, const Effects& effects, const CollectiveRun& beside) {
  if (!effects.gemm_contention) return 1;
  return saturating(beside.link_load, profile.contention.gemm_share, profile.contention.gemm_half);
}

double collective_slowdown(const Profile& profile, const Effects& effects,
                           const TileTimes& beside) {
  if (!effects.collective_contention) return 1;
  return saturating(beside.memory_load, profile.contention.collective_share,
                    profile.contention.collective_half);
}

}  // namespace overlaptune::sim
