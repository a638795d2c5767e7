#pragma once
// The simulation of `chunked`: library GEMMs and collectives, one of each for a chunk of rows.

#include "machine/simulator/schedule.hpp"
#include "machine/simulator/strategy_simulation.hpp"

namespace overlaptune::sim {

template <>
struct SimulationOf<Chunked> {
  [[nodiscard]] static Expected<Schedule> schedule(const Profile& profile, const Work& work) {
    const auto& config = work.config_as<Chunked>();
    return schedule_parts(
        profile, work,
        {config.comm_ctas, config.transport, profile.gpu.sms - config.comm_ctas, false});
  }
};

}  // namespace overlaptune::sim
