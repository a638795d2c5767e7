#pragma once
// A small graph that stands for a large one whose tasks repeat, as those of equal layers do.

#include <optional>

#include "planning/schedules/task_graph.hpp"

namespace overlaptune {

/// The first and the last tasks of each kind, `most` in all, and their fusions. A task waits for
/// the sampled tasks that it waits for in the graph, also over tasks that are left out. None where
/// the sample has more than half of the tasks: little repeats. The graph is one that `check` takes.
[[nodiscard]] std::optional<TaskGraph> sample_of(const TaskGraph& graph, int most);

}  // namespace overlaptune
