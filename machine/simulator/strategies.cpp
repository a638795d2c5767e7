#include "machine/simulator/strategies.hpp"

#include <variant>

#include "strategies/simulations.hpp"

namespace overlaptune::sim {

Expected<Schedule> make_schedule(const Profile& profile, const Work& work) {
  const auto by_strategy = [&]<class Own>(const Own& /*config*/) {
    return SimulationOf<Own>::schedule(profile, work);
  };
  return std::visit(by_strategy, work.config());
}

}  // namespace overlaptune::sim
