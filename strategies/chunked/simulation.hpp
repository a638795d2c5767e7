#pragma once
// The simulation of `chunked`: library GEMMs and collectives, one of each for a chunk of rows.

#include "machine/simulator/strategy_simulation.hpp"

namespace overlaptune::sim {

template <>
struct SimulationOf<Chunked> {
  [[nodiscard]] static Expected<Schedule> schedule(const Profile& profile, const Work& work);
};

}  // namespace overlaptune::sim
