#pragma once
// A step, planned: times one after the other, overlapped by operation, and as scheduled.

#include <map>
#include <string>
#include <vector>

#include "planning/schedules/schedule.hpp"
#include "planning/schedules/step_graph.hpp"

namespace overlaptune {

/// A decision, and how much longer all takes without it.
struct ChoiceGain {
  std::string choice{};
  double us = 0;
};

struct PhaseTimes {
  Phase phase = Phase::forward;
  double sequential_us = 0;
  double scheduled_us = 0;  ///< from the end of the phase before
};

/// A sum of times, if every one was as short, or as long, as its doubt says.
struct TimeRange {
  double low_us = 0;
  double high_us = 0;
};

struct StepPlan {
  double sequential_us = 0;  ///< every task alone, one after the other
  double operations_us = 0;  ///< the same with the best fusions, and no other overlap
  TimeRange sequential{};
  TimeRange operations{};
  double list_us = 0;  ///< list scheduling by critical path, without fusions
  double scheduled_us = 0;
  double ideal_us = 0;  ///< the greater one of all compute and all traffic, each at its fastest
  std::map<std::string, double> exposed_us{};             ///< by traffic, as scheduled
  std::map<std::string, double> sequential_exposed_us{};  ///< by traffic, one after the other
  int layers = 0;                                         ///< 0: a graph that was given
  /// Layers of `graph` and `schedule`. The times are of all layers, of which the further ones
  /// repeat the planned ones.
  int planned_layers = 0;
  int bucket_layers = 0;  ///< 0: no buckets
  std::vector<PhaseTimes> phases{};
  std::vector<ChoiceGain> choices{};  ///< the most important one first
  TaskGraph graph{};
  Schedule schedule{};
};

/// Plans a graph that `check` takes.
[[nodiscard]] StepPlan plan_graph(TaskGraph graph);

/// Plans a layer, a forward pass or a step. Decisions are searched on few layers, then tried on
/// all. Error: as `layer_operations` and `step_graph`.
[[nodiscard]] Expected<StepPlan> plan_step(const ModelConfig& config, const StepShape& shape,
                                           const StepCosts& costs);

}  // namespace overlaptune
