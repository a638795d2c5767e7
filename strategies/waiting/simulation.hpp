#pragma once
// The simulation of `waiting`: one generated GEMM, whose wave groups wait for rows that copy
// engines, or CTAs or tiles of the peers send.

#include "machine/simulator/strategy_simulation.hpp"

namespace overlaptune::sim {

template <>
struct SimulationOf<Waiting> {
  [[nodiscard]] static Expected<Schedule> schedule(const Profile& profile, const Work& work);
};

}  // namespace overlaptune::sim
