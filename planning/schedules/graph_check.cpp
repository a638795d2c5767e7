// Whether the tasks of a graph are sound, and the two tasks of each fusion can run as one.

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/index.hpp"
#include "planning/schedules/task_graph.hpp"

namespace overlaptune {
namespace {

bool is_in(double value, double least, double most) {
  return std::isfinite(value) && value >= least && value <= most;
}

Expected<void> check_task(const Task& task, int count) {
  if (!is_in(task.us, 0, kMostTaskUs)) {
    return bad_input(fmt::format("task '{}': {} us: expected 0 to 10^12", task.name, task.us));
  }
  for (const double factor : {task.slows, task.slowed, task.beside_fused}) {
    if (is_in(factor, 1, kMostTaskFactor)) continue;
    return bad_input(fmt::format("task '{}': a factor of {}: expected 1 to {}", task.name, factor,
                                 kMostTaskFactor));
  }
  for (const int other : task.after) {
    if (other < 0 || other >= count) {
      return bad_input(
          fmt::format("task '{}': after task {}, which does not exist", task.name, other));
    }
  }
  return {};
}

/// A task of a cycle, or -1 where there is none.
int task_in_cycle(const TaskGraph& graph) {
  std::vector<char> held(graph.tasks.size(), 1);  // by a cycle: they, or tasks before them
  for (const int task : in_order(graph)) held[index(task)] = 0;
  const auto first = std::find(held.begin(), held.end(), 1);
  if (first == held.end()) return -1;
  // A task that is held waits for another one, so that a walk comes back to where it was.
  std::vector<char> met(held.size(), 0);
  auto task = static_cast<int>(first - held.begin());
  while (std::exchange(met[index(task)], 1) == 0) {
    const auto& after = graph.tasks[index(task)].after;
    task = *std::find_if(after.begin(), after.end(),
                         [&](int before) { return held[index(before)] != 0; });
  }
  return task;
}

bool waits_for(const Task& task, int other) {
  return std::find(task.after.begin(), task.after.end(), other) != task.after.end();
}

/// One operation does all that its compute task does. Measured times of the two may differ by the
/// clock of the GPU.
constexpr double kLeastFused = 0.9;

Expected<void> check_fusion(const TaskGraph& graph, const Fusion& fusion) {
  const auto count = static_cast<int>(graph.tasks.size());
  if (fusion.compute < 0 || fusion.compute >= count || fusion.links < 0 || fusion.links >= count) {
    return bad_input(fmt::format("fusion '{}': of a task that does not exist", fusion.kind));
  }
  const Task& compute = graph.tasks[index(fusion.compute)];
  const Task& links = graph.tasks[index(fusion.links)];
  const auto refused = [&](std::string_view why) {
    return bad_input(fmt::format("fusion of '{}' and '{}': {}", compute.name, links.name, why));
  };
  if (compute.resource != Resource::compute || links.resource != Resource::links) {
    return refused("expected a compute task and one on links");
  }
  if (!waits_for(compute, fusion.links) && !waits_for(links, fusion.compute)) {
    return refused("expected that one is after the other");
  }
  if (!is_in(fusion.us, 0, kMostTaskUs)) {
    return refused(fmt::format("{} us: expected 0 to 10^12", fusion.us));
  }
  if (fusion.us < compute.us * kLeastFused) {
    return refused(fmt::format("{} us: expected the {} us at least that '{}' takes alone",
                               fusion.us, compute.us, compute.name));
  }
  return {};
}

/// Finds tasks between two others.
class Between {
 public:
  explicit Between(const TaskGraph& graph)
      : graph_(graph), depths_(depths(graph)), seen_(graph.tasks.size(), 0) {}

  /// A task that waits for `first`, and for which `last` waits, maybe over others; -1: none. Tasks
  /// no deeper than `first` cannot wait for it.
  int find(int first, int last) {
    ++walk_;
    std::vector<int> open{last};
    while (!open.empty()) {
      const int task = open.back();
      open.pop_back();
      if (task != last && waits_for(graph_.tasks[index(task)], first)) return task;
      for (const int before : graph_.tasks[index(task)].after) {
        if (depths_[index(before)] <= depths_[index(first)]) continue;
        if (std::exchange(seen_[index(before)], walk_) != walk_) open.push_back(before);
      }
    }
    return -1;
  }

 private:
  /// The number of tasks on the longest chain before each task.
  static std::vector<int> depths(const TaskGraph& graph) {
    std::vector<int> depths(graph.tasks.size(), 0);
    for (const int task : in_order(graph)) {
      int& depth = depths[index(task)];
      for (const int before : graph.tasks[index(task)].after) {
        depth = std::max(depth, depths[index(before)] + 1);
      }
    }
    return depths;
  }

  const TaskGraph& graph_;
  std::vector<int> depths_;
  std::vector<int> seen_;  ///< the last walk that met a task
  int walk_ = 0;
};

/// `graph` has tasks that are sound.
Expected<void> check_fusions(const TaskGraph& graph) {
  std::set<std::pair<int, int>> pairs;
  Between between(graph);
  for (const Fusion& fusion : graph.fusions) {
    if (auto checked = check_fusion(graph, fusion); !checked) return checked;
    if (!pairs.emplace(fusion.compute, fusion.links).second) {
      return bad_input(
          fmt::format("fusion '{}': is there twice: expected each pair once", fusion.kind));
    }
    const bool links_last = waits_for(graph.tasks[index(fusion.links)], fusion.compute);
    const int first = links_last ? fusion.compute : fusion.links;
    const int last = links_last ? fusion.links : fusion.compute;
    if (const int task = between.find(first, last); task >= 0) {
      const auto name = [&](int other) { return graph.tasks[index(other)].name; };
      return bad_input(fmt::format(
          "fusion of '{}' and '{}': '{}' is after '{}' and before '{}', and cannot run within one "
          "task: expected no task between the two",
          name(fusion.compute), name(fusion.links), name(task), name(first), name(last)));
    }
  }
  return {};
}

}  // namespace

Expected<void> check(const TaskGraph& graph) {
  const auto count = static_cast<int>(graph.tasks.size());
  for (const Task& task : graph.tasks) {
    if (const auto checked = check_task(task, count); !checked) return error_of(checked);
  }
  if (const int task = task_in_cycle(graph); task >= 0) {
    return bad_input(fmt::format("task '{}': waits for itself, in a cycle: expected no cycle",
                                 graph.tasks[index(task)].name));
  }
  return check_fusions(graph);
}

}  // namespace overlaptune
