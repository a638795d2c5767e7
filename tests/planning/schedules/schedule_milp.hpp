#pragma once
// Schedules by integer programming (CBC), as a reference.

#include "planning/schedules/task_graph.hpp"
#include "tests/planning/sequences/milp.hpp"

namespace overlaptune {

/// The least time of a graph whose times are whole microseconds and that knows no contention. A
/// variable for each task, each way to run it and each microsecond says whether it starts then
/// (time-indexed: Pritsker, Watters and Wolfe 1969). Schedules above `horizon` are not looked at;
/// an infinite time that is `optimal` says that none is shorter. Gives up after `seconds`; none: no
/// schedule was found, though there may be one.
[[nodiscard]] std::optional<MilpResult> schedule_by_milp(const TaskGraph& graph, int horizon,
                                                         double seconds);

}  // namespace overlaptune
