#include "strategies/sequential/simulation.hpp"

#include "machine/simulator/schedule.hpp"

namespace overlaptune::sim {

Expected<Schedule> SimulationOf<Sequential>::schedule(const Profile& profile, const Work& work) {
  const auto& config = work.config_as<Sequential>();
  return schedule_parts(profile, work, {config.comm_ctas, config.transport, profile.gpu.sms, true});
}

}  // namespace overlaptune::sim
