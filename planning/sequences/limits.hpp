#pragma once
// The limits that plans of sequence-parallel groups keep, from what is asked and what the model
// says.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/sequences/plan.hpp"

namespace overlaptune {

/// Limits by the names of their flags: `--heads`, `--least-degree`, and so on; errors name them.
struct AskedLimits {
  std::optional<int> heads{};
  std::optional<int> least_degree{};
  std::optional<int> most_degree{};
  std::optional<int> group_sequences{};
  std::optional<int> micro_batches{};
  std::optional<int> pad{};
};

struct ChosenLimits {
  Limits limits{};
  std::vector<std::string> notes{};  ///< sentences for the user
  bool heads_bound = false;          ///< the widest group is as wide as the heads allow
};

/// The limits of plans on so many GPUs; `heads` is what the model says. Throws `Failure`
/// (`bad_input`): a degree that is no power of two, above the GPUs, or that does not divide the
/// heads.
[[nodiscard]] ChosenLimits choose_limits(const AskedLimits& asked, int gpus,
                                         std::optional<std::int64_t> heads);

}  // namespace overlaptune
