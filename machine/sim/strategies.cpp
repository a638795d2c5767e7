#include "machine/sim/strategies.hpp"

namespace overlaptune::sim {

// chunked.cpp
std::unique_ptr<StrategySimulation> simulate_sequential();
std::unique_ptr<StrategySimulation> simulate_chunked();
// signaled.cpp
std::unique_ptr<StrategySimulation> simulate_signaled();
// waiting.cpp
std::unique_ptr<StrategySimulation> simulate_waiting();
// peer_store.cpp
std::unique_ptr<StrategySimulation> simulate_peer_store();

const std::vector<std::unique_ptr<StrategySimulation>>& strategy_simulations() {
  static const auto kTable = [] {
    std::vector<std::unique_ptr<StrategySimulation>> table;
    table.push_back(simulate_sequential());
    table.push_back(simulate_chunked());
    table.push_back(simulate_signaled());
    table.push_back(simulate_waiting());
    table.push_back(simulate_peer_store());
    return table;
  }();
  return kTable;
}

Expected<Schedule> make_schedule(const Profile& profile, const Work& work) {
  return strategy_simulations()
      .at(static_cast<std::size_t>(work.strategy()))
      ->schedule(profile, work);
}

}  // namespace overlaptune::sim
