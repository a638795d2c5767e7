#pragma once
// The simulation of `sequential`: the library's GEMM on all SMs, and one collective after it, or
// before it where the op exchanges first.

#include "machine/simulator/schedule.hpp"
#include "machine/simulator/strategy_simulation.hpp"

namespace overlaptune::sim {

template <>
struct SimulationOf<Sequential> {
  [[nodiscard]] static Expected<Schedule> schedule(const Profile& profile, const Work& work) {
    const auto& config = work.config_as<Sequential>();
    return schedule_parts(profile, work,
                          {config.comm_ctas, config.transport, profile.gpu.sms, true});
  }
};

}  // namespace overlaptune::sim
