#pragma once
// When each task of a graph runs: a simulation of two queues that slow each other.

#include <optional>
#include <vector>

#include "planning/schedules/task_graph.hpp"

namespace overlaptune {

/// A task, or two fused ones, in a schedule.
struct Placed {
  int task = 0;     ///< of a fusion its compute task
  int fusion = -1;  ///< index of the fusion, or -1
  double start_us = 0;
  double end_us = 0;
};

struct Schedule {
  double us = 0;
  std::vector<Placed> placed{};  ///< in the order of the starts
};

/// A task waits for another one although nothing needs it: what runs alone is not slowed.
struct Hold {
  int task = 0;
  int until = 0;
};

/// A graph in which the chosen fusions are single nodes, ready to be scheduled.
class Nodes {
 public:
  /// None: two of the chosen fusions have a task in common, or a fusion or a hold closes a cycle.
  /// The graph is one that `check` takes.
  [[nodiscard]] static std::optional<Nodes> make(const TaskGraph& graph,
                                                 const std::vector<char>& fused,
                                                 const std::vector<Hold>& holds = {});

  [[nodiscard]] std::size_t size() const { return list_.size(); }

  /// The longest chain from the start of each task to the end, in microseconds, by task of the
  /// graph.
  [[nodiscard]] std::vector<double> tails() const;

  /// List scheduling: whenever a resource is free, it takes the ready task with the least key. A
  /// fusion that is next waits until both are free. `keys` has one for each task of the graph; a
  /// fusion has the lesser one of its two.
  [[nodiscard]] Schedule list_schedule(const std::vector<double>& keys) const;

  /// Each resource runs its tasks in one order, as a stream does: by key, but for tasks that must
  /// be after others.
  [[nodiscard]] Schedule in_order(const std::vector<double>& keys) const;

 private:
  struct Node {
    double us = 0;
    double slows = 1;
    double slowed = 1;
    int task = 0;
    int fusion = -1;
    int waits = 0;            ///< number of nodes before it
    std::vector<int> next{};  ///< nodes after it
  };
  [[nodiscard]] std::vector<double> by_node(const std::vector<double>& keys) const;
  /// Each node behind those that it waits for; fewer than all where nodes wait in a cycle.
  [[nodiscard]] std::vector<int> in_some_order() const;
  /// Likewise, in the order of the keys where several may come next.
  [[nodiscard]] std::vector<int> sorted(const std::vector<double>& node_keys) const;
  template <class Queue>
  [[nodiscard]] Schedule simulate(Queue& queue) const;

  std::vector<Node> list_;
  std::vector<Resource> resources_;  ///< by node
  std::vector<int> node_of_task_;
};

}  // namespace overlaptune
