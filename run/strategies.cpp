#include "run/strategies.hpp"

#include <array>

#include "core/strategies.hpp"
#include "run/group_exchange.hpp"
#include "run/pieces.hpp"
#include "run/row_exchange.hpp"

namespace overlaptune::run {

Expected<std::unique_ptr<Plan>> make_sequential(const Request& request);
Expected<std::unique_ptr<Plan>> make_chunked(const Request& request);
Expected<std::unique_ptr<Plan>> make_signaled(const Request& request);
Expected<std::unique_ptr<Plan>> make_waiting(const Request& request);
Expected<std::unique_ptr<Plan>> make_peer_store(const Request& request);
std::int64_t workspace_of_stores(const Work& work);

namespace {

/// In the order of `Strategy`.
constexpr std::array<StrategyRunner, kStrategies.size()> kRunners{{
    {Strategy::sequential, make_sequential, workspace_of_pieces},
    {Strategy::chunked, make_chunked, workspace_of_pieces},
    {Strategy::signaled, make_signaled, workspace_of_groups},
    {Strategy::waiting, make_waiting, workspace_of_rows},
    {Strategy::peer_store, make_peer_store, workspace_of_stores},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kRunners.size(); ++i) {
    if (kRunners[i].strategy != static_cast<Strategy>(i) || kRunners[i].make == nullptr)
      return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

const StrategyRunner& runner_of(Strategy strategy) {
  return kRunners.at(static_cast<std::size_t>(strategy));
}

}  // namespace overlaptune::run
