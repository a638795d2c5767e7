#pragma once
// The part of a question beside the problem: how it launches plans, and what it allows.

#include <string>

#include "core/problem.hpp"
#include "core/strategies.hpp"

namespace overlaptune {

/// The terms of a question.
struct Terms {
  Launch launch = Launch::graph;
  EnumSet<Strategy> strategies{};  ///< that may answer; empty: all
  int free_sms = 0;                ///< SMs that plans leave alone
  friend bool operator==(const Terms&, const Terms&) = default;
};

/// Whether a strategy may answer.
[[nodiscard]] constexpr bool allows(const Terms& terms, Strategy strategy) {
  return terms.strategies.empty() || terms.strategies.contains(strategy);
}

/// "chunked, waiting": the strategies that are named.
[[nodiscard]] inline std::string names_of(const EnumSet<Strategy>& strategies) {
  std::string text;
  for (const StrategyTraits& traits : kStrategies) {
    if (!strategies.contains(traits.strategy)) continue;
    if (!text.empty()) text += ", ";
    text += to_string(traits.strategy);
  }
  return text;
}

}  // namespace overlaptune
