#include "planning/schedules/fusion_check.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/index.hpp"

namespace overlaptune {
namespace {

constexpr double kMostUs = 1e12;

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
  const Task& compute = graph.tasks[static_cast<std::size_t>(fusion.compute)];
  const Task& links = graph.tasks[static_cast<std::size_t>(fusion.links)];
  if (compute.resource != Resource::compute || links.resource != Resource::links) {
    return bad_input(
        fmt::format("fusion of '{}' and '{}': expected a compute task and one on links",
                    compute.name, links.name));
  }
  if (!waits_for(compute, fusion.links) && !waits_for(links, fusion.compute)) {
    return bad_input(fmt::format("fusion of '{}' and '{}': expected that one is after the other",
                                 compute.name, links.name));
  }
  if (!(fusion.us >= 0 && fusion.us <= kMostUs)) {
    return bad_input(fmt::format("fusion of '{}' and '{}': {} us: expected 0 to 10^12",
                                 compute.name, links.name, fusion.us));
  }
  if (fusion.us < compute.us * kLeastFused) {
    return bad_input(
        fmt::format("fusion of '{}' and '{}': {} us: expected the {} us at least that "
                    "'{}' takes alone",
                    compute.name, links.name, fusion.us, compute.us, compute.name));
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
    std::vector<std::vector<int>> next(graph.tasks.size());
    std::vector<std::size_t> waits(graph.tasks.size());
    std::vector<int> order;
    for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
      waits[i] = graph.tasks[i].after.size();
      if (waits[i] == 0) order.push_back(static_cast<int>(i));
      for (const int before : graph.tasks[i].after)
        next[index(before)].push_back(static_cast<int>(i));
    }
    std::vector<int> depths(graph.tasks.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const int task : next[index(order[i])]) {
        depths[index(task)] = std::max(depths[index(task)], depths[index(order[i])] + 1);
        if (--waits[index(task)] == 0) order.push_back(task);
      }
    }
    return depths;
  }

  const TaskGraph& graph_;
  std::vector<int> depths_;
  std::vector<int> seen_;  ///< the last walk that met a task
  int walk_ = 0;
};

}  // namespace

Expected<void> check_fusions(const TaskGraph& graph) {
  std::set<std::pair<int, int>> pairs;
  Between between(graph);
  for (const Fusion& fusion : graph.fusions) {
    if (const auto checked = check_fusion(graph, fusion); !checked) return error_of(checked);
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

}  // namespace overlaptune
