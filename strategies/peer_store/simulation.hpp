#pragma once
// The simulation of `peer_store`: one generated GEMM, whose tiles are stored at the ranks that own
// them.

#include "machine/simulator/execution.hpp"
#include "machine/simulator/strategy_simulation.hpp"

namespace overlaptune::sim {

template <>
struct SimulationOf<PeerStore> {
  [[nodiscard]] static Expected<Schedule> schedule(const Profile& profile, const Work& work);
};

/// Runs a schedule whose `stores` are set, repetition by repetition.
[[nodiscard]] Execution execute_stores(const Setting& setting, const Schedule& schedule,
                                       const Noise& noise);

}  // namespace overlaptune::sim
