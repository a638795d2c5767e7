#pragma once
// The part of a question beside the problem: how it launches plans, and what it allows.

#include <string>
#include <string_view>

#include "core/config/strategies.hpp"
#include "core/problem.hpp"

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
[[nodiscard]] std::string names_of(const EnumSet<Strategy>& strategies);

/// Strategies as in "chunked,sequential". Error: the name that is not known.
[[nodiscard]] Expected<EnumSet<Strategy>> parse_strategies(std::string_view text);

}  // namespace overlaptune
