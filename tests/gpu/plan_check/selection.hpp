#pragma once
// The part of the cases that is asked for.

#include <optional>
#include <vector>

#include "core/config/config.hpp"
#include "core/problem.hpp"

namespace overlaptune::plan_check {

/// All that is absent is not restricted.
struct Selection {
  std::optional<Op> op{};
  std::optional<Strategy> strategy{};

  /// The configs of `list` that are asked for, behind the first one, by which they are judged.
  /// Empty where none is.
  [[nodiscard]] std::vector<Config> of(const Problem& problem, std::vector<Config> list) const;
};

}  // namespace overlaptune::plan_check
