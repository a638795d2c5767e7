#pragma once
// The simulation of `signaled`: one generated GEMM, and a collective for each wave group.

#include "machine/simulator/strategy_simulation.hpp"

namespace overlaptune::sim {

template <>
struct SimulationOf<Signaled> {
  [[nodiscard]] static Expected<Schedule> schedule(const Profile& profile, const Work& work);
};

}  // namespace overlaptune::sim
