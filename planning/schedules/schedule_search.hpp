#pragma once
// Which fusions to take and which task first: search around list scheduling by critical path.

#include <map>
#include <string>
#include <vector>

#include "planning/schedules/schedule.hpp"

namespace overlaptune {

/// Decisions for each kind of task, the same in each layer.
struct Policy {
  std::map<std::string, bool> fused{};  ///< by kind of fusion; absent: not fused
  /// Added to the longest chain after a task of this kind, which is its priority: tasks with the
  /// greater sum go first. Microseconds.
  std::map<std::string, double> earlier{};
  friend bool operator==(const Policy&, const Policy&) = default;
};

struct Scheduled {
  std::vector<char> fused{};   ///< by fusion of the graph
  std::vector<double> keys{};  ///< by task
  std::vector<Hold> holds{};
  Schedule schedule{};
};

/// List scheduling by critical path under the policy. A fusion that another one excludes is left
/// out: a task is in one fusion, and none closes a cycle.
[[nodiscard]] Scheduled apply(const TaskGraph& graph, const Policy& policy);

/// A good policy: kinds are changed one by one as long as that helps, then at random. Takes at most
/// `trials` schedules of the graph. The same input gives the same result.
[[nodiscard]] Policy search_policy(const TaskGraph& graph, Policy start, int trials);

/// A good schedule, for graphs whose tasks have nothing in common: simulated annealing over the
/// order of tasks, the choice of fusions and a few holds, from `start` on. The same input gives the
/// same result.
[[nodiscard]] Scheduled search_order(const TaskGraph& graph, Scheduled start, int trials);

}  // namespace overlaptune
