#pragma once
// A planned step as text for people and as a JSON document.

#include <optional>
#include <string>
#include <vector>

#include "cli/assumptions.hpp"
#include "planner/step_plan.hpp"
#include "reports/table.hpp"

namespace overlaptune::cli {

struct PlannedStep {
  std::string source{};  ///< the file of the model or the graph
  std::string name{};    ///< of the model, or the file of the graph
  StepShape shape{};     ///< without a meaning for a graph
  StepPlan plan{};
  std::vector<std::string> costs{};  ///< sentences on where the times of the tasks come from
  std::vector<std::string> notes{};
  Assumptions assumptions{};
  std::optional<Platform> platform{};  ///< none: a graph that was given
};

/// Lines that say what overlap gains, on what, and what was assumed; then tables and notes.
[[nodiscard]] std::string text(const PlannedStep& planned);

/// The document of `step --json` (docs/step.md).
[[nodiscard]] OrderedJson document(const PlannedStep& planned);

}  // namespace overlaptune::cli
