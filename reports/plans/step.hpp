#pragma once
// A planned step as JSON, as tables and as a trace (docs/step.md has the fields).

#include <string>
#include <string_view>
#include <vector>

#include "planning/schedules/step_plan.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

[[nodiscard]] OrderedJson json_of(const StepPlan& plan);

/// "Overlap makes WHAT 1.43 times as fast: 100 ms instead of 144 ms, at best 81.4 ms".
[[nodiscard]] std::string headline_of(const StepPlan& plan, std::string_view what);

/// Times, exposed communication, phases and choices, in this order. `machine` is the last column
/// of each.
[[nodiscard]] std::vector<Table> tables_of(const StepPlan& plan, const std::string& machine);

/// The schedule in Chrome's Trace Event format: compute on one thread, links on another one.
[[nodiscard]] std::string trace_of(const StepPlan& plan, std::string_view title);

}  // namespace overlaptune
