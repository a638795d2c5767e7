#pragma once
// The flags that say which plans of sequence-parallel groups can be run.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "planner/plan.hpp"

namespace overlaptune::cli {

struct LimitFlags {
  std::optional<int> heads{};
  std::optional<int> least_degree{};
  std::optional<int> most_degree{};
  std::optional<int> group_sequences{};
  std::optional<int> micro_batches{};
  std::optional<int> pad{};
};

/// Adds `--heads`, `--least-degree`, `--most-degree`, `--group-sequences`,
/// `--micro-batch-multiple` and `--pad`.
void add_limit_flags(CLI::App& command, LimitFlags& flags);

struct ChosenLimits {
  Limits limits{};
  std::vector<std::string> notes{};  ///< sentences for the user
};

/// The limits of plans on so many GPUs; `heads` is what the model says. Throws `Failure`
/// (`bad_input`): a degree that is no power of two, above the GPUs, or that does not divide the
/// heads.
[[nodiscard]] ChosenLimits choose_limits(const LimitFlags& flags, int gpus,
                                         std::optional<std::int64_t> heads);

}  // namespace overlaptune::cli
