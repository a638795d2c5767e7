#pragma once
// Whether the two tasks of a fusion can run as one.

#include "planning/schedules/task_graph.hpp"

namespace overlaptune {

/// Checks the fusions of a graph whose tasks are sound. Error, naming the tasks: other tasks than
/// the two that a fusion needs, a pair that is there twice, a time shorter than the compute task's,
/// a third task between the two.
[[nodiscard]] Expected<void> check_fusions(const TaskGraph& graph);

}  // namespace overlaptune
