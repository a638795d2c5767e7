#pragma once
// The properties of every strategy, as a table. Legality and the strategies of a machine follow
// from it.

#include <cstddef>

#include "core/config/config.hpp"
#include "core/config/strategy_traits.hpp"
#include "strategies/traits.hpp"

namespace overlaptune {

/// The properties of each strategy, in the order of `Config`.
inline constexpr auto kStrategies = each_strategy([]<class Own>(std::type_identity<Own>) {
  StrategyTraits traits = TraitsOf<Own>::row;
  traits.strategy = strategy_of<Own>();
  return traits;
});

[[nodiscard]] constexpr const StrategyTraits& traits_of(Strategy strategy) {
  return kStrategies[static_cast<std::size_t>(strategy)];
}

/// The strategies whose properties please `pleases`, in the order of `Config`.
template <class Pleases>
[[nodiscard]] constexpr EnumSet<Strategy> strategies_where(Pleases&& pleases) {
  EnumSet<Strategy> set;
  for (const StrategyTraits& traits : kStrategies) {
    if (pleases(traits)) set.insert(traits.strategy);
  }
  return set;
}

inline constexpr EnumSet<Strategy> kAllStrategies =
    strategies_where([](const StrategyTraits&) { return true; });

}  // namespace overlaptune
