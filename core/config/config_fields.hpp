#pragma once
// Visitors of the fields of configs. The canonical line, its parser, range checks and reports
// follow from them.

#include <type_traits>
#include <variant>

#include "core/config/config.hpp"
#include "core/config/field_types.hpp"

namespace overlaptune {

/// Calls `visit(field, value, presence)` for each field of a strategy's value, in the order of the
/// canonical line. `Own` may be const.
template <class Own, class Visit>
requires StrategyConfig<std::remove_const_t<Own>>
constexpr void each_field(Own& config, Visit&& visit) {
  std::remove_const_t<Own>::each_field(config, visit);
}

/// Calls `visit` for each field of a config of any strategy.
template <class AnyConfig, class Visit>
requires std::is_same_v<std::remove_const_t<AnyConfig>, Config>
constexpr void each_field(AnyConfig& config, Visit&& visit) {
  std::visit([&](auto& own) { each_field(own, visit); }, config);
}

/// Calls `visit(value)` with the value of one field, if the config (or strategy's value) has it.
template <class Field, class AnyConfig, class Visit>
void with_field(AnyConfig& config, Visit&& visit) {
  each_field(config, [&](auto each, auto& value, Presence) {
    if constexpr (std::is_same_v<decltype(each), Field>) {
      visit(value);
    } else {
      (void)value;
    }
  });
}

}  // namespace overlaptune
