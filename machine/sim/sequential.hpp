#pragma once
// The simulation of `sequential`: the library's GEMM on all SMs, and one collective after it
// (all_gather_gemm: before it).

#include "machine/sim/strategy_simulation.hpp"

namespace overlaptune::sim {

template <>
struct SimulationOf<Sequential> {
  [[nodiscard]] static Expected<Schedule> schedule(const Profile& profile, const Work& work);
};

}  // namespace overlaptune::sim
