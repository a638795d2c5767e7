#include "run/strategy_runner.hpp"

#include <variant>

#include "core/base/error.hpp"
#include "core/config/check.hpp"
#include "run/exchange/collective.hpp"
#include "strategies/runners.hpp"

namespace overlaptune::run {

Expected<std::unique_ptr<Plan>> make_plan(const Request& request) {
  const Work& work = request.work;
  const auto able =
      overlaptune::check(work.problem(), work.config(), request.engine.capabilities());
  if (!able) return error_of(able);
  const auto by_strategy = [&]<class Own>(const Own& /*config*/) {
    return RunnerOf<Own>::make(request);
  };
  return std::visit(by_strategy, work.config());
}

Expected<void> ready(const Request& request, const CommKey& route) {
  if (!request.family) return make_ready(request.engine.world, route);
  if (request.engine.world.has(route)) return {};
  return bad_input("the family has no communicator for this number of rows: make it anew");
}

std::shared_ptr<SideStream> side_stream(const Request& request) {
  if (request.family) return {request.family, &request.family->side};
  return std::make_shared<SideStream>();
}

std::shared_ptr<DeviceMemory> group_counters(const Request& request, std::size_t groups) {
  if (request.family) return {request.family, &request.family->counters};
  return std::make_shared<DeviceMemory>(device_memory(groups * sizeof(std::uint32_t)));
}

}  // namespace overlaptune::run
