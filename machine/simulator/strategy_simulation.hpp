#pragma once
// The side of a strategy that is in the simulator: it turns work into kernels and collectives.

#include "machine/simulator/schedule.hpp"

namespace overlaptune::sim {

/// The simulation of the strategy whose configs have type `Own`. A specialization has
///
///     static Expected<Schedule> schedule(const Profile&, const Work&);
///
/// The work has this strategy. Error: the profile has no curve for one of its collectives.
template <class Own>
struct SimulationOf;

}  // namespace overlaptune::sim
