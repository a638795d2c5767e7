#pragma once
// The simulations of all strategies.

#include "machine/simulator/schedule.hpp"

namespace overlaptune::sim {

/// The schedule of `work`, by its strategy. Error: the profile has no curve for one of its
/// collectives.
[[nodiscard]] Expected<Schedule> make_schedule(const Profile& profile, const Work& work);

}  // namespace overlaptune::sim
