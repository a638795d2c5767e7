#include "planning/schedules/schedule.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <utility>

#include "core/base/index.hpp"

namespace overlaptune {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kCompute = 0;
constexpr std::size_t kLinks = 1;

using Keyed = std::pair<double, int>;
using Heap = std::priority_queue<Keyed, std::vector<Keyed>, std::greater<>>;

/// The ready nodes of each resource, the least key first.
class ReadyFirst {
 public:
  ReadyFirst(const std::vector<double>& keys, const std::vector<Resource>& resources)
      : keys_(keys), resources_(resources) {}
  void ready(int node) { heap(resources_[index(node)]).emplace(keys_[index(node)], node); }
  int take(bool compute, bool links) {
    const double both = key(Resource::both);
    const double first = key(Resource::compute);
    const double second = key(Resource::links);
    // A fusion that is next on a resource keeps it free until the other one is free, too.
    if (compute && links && both < kNever && both <= std::min(first, second)) {
      return pop(Resource::both);
    }
    if (compute && first < both) return pop(Resource::compute);
    if (links && second < both) return pop(Resource::links);
    return -1;
  }

 private:
  Heap& heap(Resource resource) { return heaps_[static_cast<std::size_t>(resource)]; }
  double key(Resource resource) {
    Heap& own = heap(resource);
    return own.empty() ? kNever : own.top().first;
  }
  int pop(Resource resource) {
    Heap& own = heap(resource);
    const int node = own.top().second;
    own.pop();
    return node;
  }

  const std::vector<double>& keys_;
  const std::vector<Resource>& resources_;
  std::array<Heap, 3> heaps_{};
};

/// Two queues, in an order that was made before.
class InOrder {
 public:
  InOrder(const std::vector<int>& order, const std::vector<Resource>& resources)
      : resources_(resources), ready_(order.size(), 0) {
    for (const int node : order) {
      if (resources[index(node)] != Resource::links) queues_[kCompute].push_back(node);
      if (resources[index(node)] != Resource::compute) queues_[kLinks].push_back(node);
    }
  }
  void ready(int node) { ready_[index(node)] = 1; }
  int take(bool compute, bool links) {
    const int first = head(kCompute);
    const int second = head(kLinks);
    if (compute && links && first >= 0 && first == second) {
      ++next_[kCompute];
      ++next_[kLinks];
      return first;
    }
    if (compute && first >= 0 && resources_[index(first)] == Resource::compute) {
      ++next_[kCompute];
      return first;
    }
    if (links && second >= 0 && resources_[index(second)] == Resource::links) {
      ++next_[kLinks];
      return second;
    }
    return -1;
  }

 private:
  /// The first node of a queue if it is ready, else -1.
  [[nodiscard]] int head(std::size_t which) const {
    const auto& queue = queues_[which];
    if (next_[which] == queue.size() || ready_[index(queue[next_[which]])] == 0) return -1;
    return queue[next_[which]];
  }

  const std::vector<Resource>& resources_;
  std::vector<char> ready_;
  std::array<std::vector<int>, 2> queues_{};
  std::array<std::size_t, 2> next_{};
};

/// The node that runs on a resource, and how much of it is left.
struct Running {
  int node = -1;
  double left = 0;  ///< microseconds, if nothing else ran
  std::size_t placed = 0;
};

}  // namespace

std::optional<Nodes> Nodes::make(const TaskGraph& graph, const std::vector<char>& fused,
                                 const std::vector<Hold>& holds) {
  Nodes made;
  made.node_of_task_.assign(graph.tasks.size(), -1);
  for (std::size_t i = 0; i < graph.fusions.size(); ++i) {
    if (fused[i] == 0) continue;
    const Fusion& fusion = graph.fusions[i];
    int& first = made.node_of_task_[index(fusion.compute)];
    int& second = made.node_of_task_[index(fusion.links)];
    if (first >= 0 || second >= 0) return std::nullopt;
    first = second = static_cast<int>(made.list_.size());
    made.list_.push_back({.us = fusion.us, .task = fusion.compute, .fusion = static_cast<int>(i)});
    made.resources_.push_back(Resource::both);
  }
  const bool any_fused = !made.list_.empty();
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    if (made.node_of_task_[i] >= 0) continue;
    const Task& task = graph.tasks[i];
    made.node_of_task_[i] = static_cast<int>(made.list_.size());
    made.resources_.push_back(task.resource);
    made.list_.push_back({.us = any_fused ? task.us * task.beside_fused : task.us,
                          .slows = task.slows,
                          .slowed = task.slowed,
                          .task = static_cast<int>(i)});
  }
  const auto wait = [&](int task, int until) {
    const int node = made.node_of_task_[index(task)];
    const int before = made.node_of_task_[index(until)];
    if (before == node) return;
    made.list_[index(before)].next.push_back(node);
    ++made.list_[index(node)].waits;
  };
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    for (const int other : graph.tasks[i].after) wait(static_cast<int>(i), other);
  }
  for (const Hold& hold : holds) wait(hold.task, hold.until);
  if (made.in_some_order().size() < made.size()) return std::nullopt;
  return made;
}

std::vector<double> Nodes::by_node(const std::vector<double>& keys) const {
  std::vector<double> mine(size(), kNever);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    double& key = mine[index(node_of_task_[i])];
    key = std::min(key, keys[i]);
  }
  return mine;
}

std::vector<int> Nodes::in_some_order() const {
  std::vector<int> order;
  order.reserve(size());
  std::vector<int> waits(size());
  for (std::size_t i = 0; i < size(); ++i) {
    waits[i] = list_[i].waits;
    if (waits[i] == 0) order.push_back(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const int next : list_[index(order[i])].next) {
      if (--waits[index(next)] == 0) order.push_back(next);
    }
  }
  return order;
}

std::vector<int> Nodes::sorted(const std::vector<double>& node_keys) const {
  std::vector<int> order;
  order.reserve(size());
  std::vector<int> waits(size());
  Heap heap;
  for (std::size_t i = 0; i < size(); ++i) {
    waits[i] = list_[i].waits;
    if (waits[i] == 0) heap.emplace(node_keys[i], static_cast<int>(i));
  }
  while (!heap.empty()) {
    const int node = heap.top().second;
    heap.pop();
    order.push_back(node);
    for (const int next : list_[index(node)].next) {
      if (--waits[index(next)] == 0) heap.emplace(node_keys[index(next)], next);
    }
  }
  return order;
}

std::vector<double> Nodes::tails() const {
  const std::vector<int> order = in_some_order();
  std::vector<double> tails(size(), 0);
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    double longest = 0;
    for (const int next : list_[index(*node)].next) longest = std::max(longest, tails[index(next)]);
    tails[index(*node)] = longest + list_[index(*node)].us;
  }
  std::vector<double> by_task(node_of_task_.size());
  for (std::size_t i = 0; i < by_task.size(); ++i) by_task[i] = tails[index(node_of_task_[i])];
  return by_task;
}

template <class Queue>
Schedule Nodes::simulate(Queue& queue) const {
  Schedule schedule;
  schedule.placed.reserve(size());
  std::vector<int> waits(size());
  for (std::size_t i = 0; i < size(); ++i) {
    waits[i] = list_[i].waits;
    if (waits[i] == 0) queue.ready(static_cast<int>(i));
  }
  std::array<Running, 2> running{};
  Running& compute = running[kCompute];
  Running& links = running[kLinks];
  double now = 0;
  while (true) {
    for (int node; (node = queue.take(compute.node < 0, links.node < 0)) >= 0;) {
      const Node& taken = list_[index(node)];
      const Running entry{node, taken.us, schedule.placed.size()};
      if (resources_[index(node)] != Resource::links) compute = entry;
      if (resources_[index(node)] != Resource::compute) links = entry;
      schedule.placed.push_back({taken.task, taken.fusion, now, now});
    }
    if (compute.node < 0 && links.node < 0) break;
    const bool two = compute.node >= 0 && links.node >= 0 && compute.node != links.node;
    const double slow_compute = two ? list_[index(links.node)].slows : 1;
    const double slow_links = two ? list_[index(links.node)].slowed : 1;
    const double compute_ends = compute.node < 0 ? kNever : compute.left * slow_compute;
    const double links_end = links.node < 0 ? kNever : links.left * slow_links;
    const double step = std::min(compute_ends, links_end);
    now += step;
    const auto advance = [&](Running& side, double factor, double ends) {
      if (side.node < 0) return -1;
      side.left -= step / factor;
      if (ends > step) return -1;
      schedule.placed[side.placed].end_us = now;
      return std::exchange(side.node, -1);
    };
    const int first = advance(compute, slow_compute, compute_ends);
    const int second = advance(links, slow_links, links_end);
    const auto release = [&](int node) {
      for (const int next : list_[index(node)].next) {
        if (--waits[index(next)] == 0) queue.ready(next);
      }
    };
    if (first >= 0) release(first);
    if (second >= 0 && second != first) release(second);
  }
  schedule.us = now;
  return schedule;
}

Schedule Nodes::list_schedule(const std::vector<double>& keys) const {
  const std::vector<double> own = by_node(keys);
  ReadyFirst queue(own, resources_);
  return simulate(queue);
}

Schedule Nodes::in_order(const std::vector<double>& keys) const {
  InOrder queue(sorted(by_node(keys)), resources_);
  return simulate(queue);
}

}  // namespace overlaptune
