#pragma once
// One batch, planned from values, for programs that have lengths and costs at hand and no files.

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/error.hpp"
#include "planning/sequences/costs.hpp"
#include "planning/sequences/limits.hpp"
#include "planning/sequences/plan.hpp"

namespace overlaptune {

struct BatchQuestion {
  std::vector<std::int64_t> lengths{};  ///< tokens of each sequence, before padding
  Gpus gpus{};
  AskedLimits limits{};
  std::optional<std::int64_t> heads{};  ///< of attention, as the model has them
};

/// Plans one batch as `overlaptune sequences` does. `Group::members` are places among the lengths
/// that were given. Error: no lengths, or one below 1; GPUs that are no power of two, or no whole
/// nodes; a degree that cannot be; a sequence, or the state of the model, that the memory cannot
/// hold; fewer sequences than a multiple of micro-batches needs.
[[nodiscard]] Expected<BatchPlan> plan_sequences(const Costs& costs, const BatchQuestion& question);

}  // namespace overlaptune
