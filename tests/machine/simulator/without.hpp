#pragma once
// Profiles without one effect of the simulation, to show the weight of each.

#include <limits>

#include "machine/simulator/profile.hpp"

namespace overlaptune::test {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Tiles of one GEMM do not differ in time.
inline void without_tile_spread(sim::Profile& profile) {
  profile.gpu.tile_spread = 0;
}

/// Replays, submissions and gaps between kernels take no time.
inline void without_launch(sim::Profile& profile) {
  sim::LaunchProfile& launch = profile.launch;
  launch.graph_replay = launch.graph_kernel = launch.eager_submit = launch.eager_first = 0;
}

/// A finished group is visible at once, and so is a tile that was stored at a peer.
inline void without_signal(sim::Profile& profile) {
  profile.launch.signal = profile.copy.store_latency = 0;
}

/// A collective starts as soon as its group is visible.
inline void without_trigger(sim::Profile& profile) {
  profile.launch.trigger = profile.launch.kernel_trigger = 0;
}

/// No collective slows a GEMM.
inline void without_gemm_contention(sim::Profile& profile) {
  profile.contention.gemm_share = 0;
  if (!profile.congestion) return;
  profile.congestion->tile_wait = profile.congestion->load_share = 0;
  profile.congestion->store_rate = kNoLimit;
}

/// No GEMM slows a collective.
inline void without_collective_contention(sim::Profile& profile) {
  profile.contention.collective_share = 0;
  if (!profile.congestion) return;
  profile.congestion->latency_share = profile.congestion->link_share = 0;
  for (sim::CollectiveProfile& each : profile.collectives) each.wait_share = 0;
}

/// No power limit lowers the clock.
inline void without_clock_loss(sim::Profile& profile) {
  profile.power.governor.reset();
  profile.power.limit_w = kNoLimit;
}

}  // namespace overlaptune::test
