#pragma once
// A planned step as text for people and as a JSON document.

#include <string>

#include "planning/schedules/planned_step.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {

/// Lines that say what overlap gains, on what, and what was assumed; then tables and notes.
[[nodiscard]] std::string text(const PlannedStep& planned);

/// The document of `step --json` (docs/step.md).
[[nodiscard]] OrderedJson document(const PlannedStep& planned);

}  // namespace overlaptune::cli
