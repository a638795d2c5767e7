#include "strategies/chunked/simulation.hpp"

#include "machine/simulator/schedule.hpp"

namespace overlaptune::sim {

Expected<Schedule> SimulationOf<Chunked>::schedule(const Profile& profile, const Work& work) {
  const auto& config = work.config_as<Chunked>();
  return schedule_parts(
      profile, work,
      {config.comm_ctas, config.transport, profile.gpu.sms - config.comm_ctas, false});
}

}  // namespace overlaptune::sim
