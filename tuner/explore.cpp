#include "tuner/explore.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "core/config/check.hpp"
#include "model/strategy_model.hpp"

namespace overlaptune {
namespace {

std::vector<CommSetting> settings_for(const ExploreSpace& space, const Problem& problem) {
  const auto settings = space.settings.find(collective_of(problem.op));
  return settings == space.settings.end() ? std::vector<CommSetting>{} : settings->second;
}

/// The strategies that are drawn from, in the order of the space. One without a collective takes no
/// setting, but one by a transport of its own was probed: ranks reach each other so.
std::vector<Strategy> strategies_for(const ExploreSpace& space, const Problem& problem) {
  const std::vector<CommSetting> settings = settings_for(space, problem);
  const auto reaches = [&](const StrategyTraits& traits) {
    return std::ranges::any_of(settings, [&](const CommSetting& each) {
      return traits.transports.contains(each.transport);
    });
  };
  std::vector<Strategy> list = space.strategies;
  std::erase_if(list, [&](Strategy strategy) {
    const StrategyTraits& traits = traits_of(strategy);
    return strategy == kBaseline || !traits.ops.contains(problem.op) ||
           (!traits.has_collective && !reaches(traits));
  });
  return list;
}

}  // namespace

std::vector<Config> explore(const ExploreSpace& space, const Problem& problem, int count,
                            std::uint64_t seed) {
  const Capabilities capabilities = capabilities_of(space.platform);
  Draws draws(mix(seed ^ fnv1a(to_string(problem))), space.platform, problem.elements);
  Deck<CommSetting> settings(settings_for(space, problem));
  Deck<Strategy> strategies(strategies_for(space, problem));
  std::vector<Config> configs;
  if (strategies.empty() || settings.empty()) return configs;

  std::set<std::string> seen;
  // A small space is used up at some point: stop after many draws without a new config.
  for (int idle = 0; static_cast<int>(configs.size()) < count && idle < 1000;) {
    const CommSetting setting = settings.deal(draws.dice);
    const StrategyModel& strategy = model_of(strategies.deal(draws.dice));
    std::optional<Config> config = strategy.draw(problem, setting, draws);
    if (config && check(problem, *config, capabilities) && seen.insert(to_string(*config)).second) {
      configs.push_back(std::move(*config));
      idle = 0;
    } else {
      ++idle;
    }
  }
  return configs;
}

}  // namespace overlaptune
