#pragma once
// The simulation of one strategy: it turns work into kernels and collectives. To add one, write a
// file with a class of this kind and a function that makes it, and add two lines to strategies.cpp.

#include <memory>

#include "machine/sim/schedule.hpp"

namespace overlaptune::sim {

class StrategySimulation {
 public:
  virtual ~StrategySimulation() = default;
  StrategySimulation(const StrategySimulation&) = delete;
  StrategySimulation& operator=(const StrategySimulation&) = delete;

  [[nodiscard]] virtual Strategy strategy() const = 0;

  /// The schedule of `work`, which has this strategy. Error: the profile has no curve for one of
  /// its collectives.
  [[nodiscard]] virtual Expected<Schedule> schedule(const Profile& profile,
                                                    const Work& work) const = 0;

 protected:
  StrategySimulation() = default;
};

/// One for each strategy, in the order of `Strategy`.
[[nodiscard]] const std::vector<std::unique_ptr<StrategySimulation>>& strategy_simulations();

/// The schedule of `work`, by its strategy.
[[nodiscard]] Expected<Schedule> make_schedule(const Profile& profile, const Work& work);

}  // namespace overlaptune::sim
