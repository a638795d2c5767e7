#include "planning/schedules/graph_sample.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/index.hpp"

namespace overlaptune {
namespace {

/// By task: whether it is among the first or last of its kind. Layers run forward and backward in
/// opposite orders, and both ends of a kind are those of the same layers.
std::vector<char> sampled(const TaskGraph& graph, int most) {
  std::map<std::string, std::vector<std::size_t>> of_kind;
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) of_kind[graph.tasks[i].kind].push_back(i);
  std::vector<char> taken(graph.tasks.size(), 0);
  for (const auto& [kind, tasks] : of_kind) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const std::size_t from_end = std::min(i, tasks.size() - 1 - i);
      if (from_end < index(most) / 2) taken[tasks[i]] = 1;
    }
  }
  return taken;
}

}  // namespace

std::optional<TaskGraph> sample_of(const TaskGraph& graph, int most) {
  const std::vector<char> taken = sampled(graph, most);
  const auto count = std::count(taken.begin(), taken.end(), 1);
  if (2 * static_cast<std::size_t>(count) > graph.tasks.size()) return std::nullopt;
  TaskGraph sample;
  std::vector<int> index_of(graph.tasks.size(), -1);
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    if (taken[i] == 0) continue;
    index_of[i] = static_cast<int>(sample.tasks.size());
    sample.tasks.push_back(graph.tasks[i]);
  }
  // The sampled tasks that must end before what waits for a task: itself, or, of one that is left
  // out, those that it waits for.
  std::vector<std::vector<int>> ends(graph.tasks.size());
  for (const int i : in_order(graph)) {
    std::vector<int> before;
    for (const int other : graph.tasks[index(i)].after) {
      before.insert(before.end(), ends[index(other)].begin(), ends[index(other)].end());
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    if (taken[index(i)] == 0) {
      ends[index(i)] = std::move(before);
      continue;
    }
    sample.tasks[index(index_of[index(i)])].after = std::move(before);
    ends[index(i)] = {index_of[index(i)]};
  }
  for (Fusion fusion : graph.fusions) {
    fusion.compute = index_of[index(fusion.compute)];
    fusion.links = index_of[index(fusion.links)];
    if (fusion.compute >= 0 && fusion.links >= 0) sample.fusions.push_back(std::move(fusion));
  }
  return sample;
}

}  // namespace overlaptune
