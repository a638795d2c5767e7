#pragma once
// What a strategy brings to the simulator: how its work becomes kernels and collectives. To add
// one: a file with a class of this kind and a function that makes it, and two lines in
// strategies.cpp.

#include <memory>

#include "machine/sim/schedule.hpp"

namespace overlaptune::sim {

class StrategySimulation {
 public:
  virtual ~StrategySimulation() = default;
  StrategySimulation(const StrategySimulation&) = delete;
  StrategySimulation& operator=(const StrategySimulation&) = delete;

  [[nodiscard]] virtual Strategy strategy() const = 0;

  /// The work is one of this strategy. Error: what the profile has no curve for.
  [[nodiscard]] virtual Expected<Schedule> schedule(const Profile& profile,
                                                    const Work& work) const = 0;

 protected:
  StrategySimulation() = default;
};

/// In the order of `Strategy`, one for each.
[[nodiscard]] const std::vector<std::unique_ptr<StrategySimulation>>& strategy_simulations();

/// By the strategy of the work.
[[nodiscard]] Expected<Schedule> make_schedule(const Profile& profile, const Work& work);

}  // namespace overlaptune::sim
