#include "planning/schedules/step_plan.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "planning/schedules/graph_sample.hpp"
#include "planning/schedules/schedule_search.hpp"

namespace overlaptune {
namespace {

constexpr int kFewLayers = 4;  // on which a policy is searched
constexpr int kPolicyTrials = 6000;
constexpr int kFewTrials = 200;  // on all layers
constexpr int kOrderTrials = 60'000;
constexpr std::size_t kFewTasks = 64;  // whose order is searched task by task
/// Equal layers that are planned; the others repeat them.
constexpr int kMostPlannedLayers = 256;

/// The most trials of a graph, fewer of a large one: tasks and what they wait for are visited so
/// many times, about a second.
int trials_of(const TaskGraph& graph, int most) {
  constexpr std::size_t kVisits = 10'000'000;
  constexpr int kLeast = 20;
  std::size_t size = graph.tasks.size() + graph.fusions.size();
  for (const Task& task : graph.tasks) size += task.after.size();
  return static_cast<int>(
      std::clamp<std::size_t>(kVisits / size, kLeast, static_cast<std::size_t>(most)));
}

const Task& task_at(const TaskGraph& graph, int index) {
  return graph.tasks[static_cast<std::size_t>(index)];
}

void add(TimeRange& sum, double us, const Doubt& doubt, double times = 1) {
  sum.low_us += times * least_us(us, doubt);
  sum.high_us += times * most_us(us, doubt);
}

/// Fills the times of all tasks one after the other, alone and with the best fusions, if these
/// save more than other tasks take longer beside them.
void add_sums(StepPlan& plan, const TaskGraph& graph) {
  for (const Task& task : graph.tasks) {
    plan.sequential_us += task.us;
    add(plan.sequential, task.us, task.doubt);
  }
  double us = 0;
  TimeRange range;
  std::vector<char> fused(graph.tasks.size());
  for (const Fusion* fusion : best_fusions(graph)) {
    us += fusion->us;
    add(range, fusion->us, fusion->doubt);
    fused[static_cast<std::size_t>(fusion->compute)] = 1;
    fused[static_cast<std::size_t>(fusion->links)] = 1;
  }
  for (std::size_t i = 0; i < fused.size(); ++i) {
    if (fused[i] != 0) continue;
    const Task& task = graph.tasks[i];
    us += task.us * task.beside_fused;
    add(range, task.us * task.beside_fused, task.doubt);
  }
  const bool pays = us < plan.sequential_us;
  plan.operations_us = pays ? us : plan.sequential_us;
  plan.operations = pays ? range : plan.sequential;
}

/// Time on the links in which nothing computes, by traffic.
std::map<std::string, double> exposed(const TaskGraph& graph, const Schedule& schedule) {
  std::vector<std::pair<double, double>> busy;  // ascending: compute tasks do not overlap
  for (const Placed& placed : schedule.placed) {
    if (placed.fusion >= 0 || task_at(graph, placed.task).resource != Resource::links) {
      busy.emplace_back(placed.start_us, placed.end_us);
    }
  }
  std::map<std::string, double> sums;
  std::size_t first = 0;
  for (const Placed& placed : schedule.placed) {
    const Task& task = task_at(graph, placed.task);
    if (placed.fusion >= 0) {
      const Fusion& fusion = graph.fusions[static_cast<std::size_t>(placed.fusion)];
      const double computed = task.us * task.beside_fused;
      sums[task_at(graph, fusion.links).traffic] += std::max(0.0, fusion.us - computed);
      continue;
    }
    if (task.resource != Resource::links) continue;
    double alone = placed.end_us - placed.start_us;
    while (first < busy.size() && busy[first].second <= placed.start_us) ++first;
    for (std::size_t i = first; i < busy.size() && busy[i].first < placed.end_us; ++i) {
      alone -= std::max(
          0.0, std::min(busy[i].second, placed.end_us) - std::max(busy[i].first, placed.start_us));
    }
    sums[task.traffic] += std::max(0.0, alone);
  }
  return sums;
}

std::vector<PhaseTimes> phases(const TaskGraph& graph, const Schedule& schedule) {
  std::array<double, 3> sequential{};
  std::array<double, 3> ends{};
  for (const Task& task : graph.tasks) sequential[static_cast<std::size_t>(task.phase)] += task.us;
  for (const Placed& placed : schedule.placed) {
    double& end = ends[static_cast<std::size_t>(task_at(graph, placed.task).phase)];
    end = std::max(end, placed.end_us);
  }
  std::vector<PhaseTimes> list;
  double before = 0;
  for (const Phase phase : {Phase::forward, Phase::backward, Phase::update}) {
    const auto index = static_cast<std::size_t>(phase);
    if (sequential[index] == 0) continue;
    const double end = std::max(before, ends[index]);
    list.push_back({phase, sequential[index], end - before});
    before = end;
  }
  return list;
}

/// Fills all but the decisions.
StepPlan measured(TaskGraph graph, Schedule schedule) {
  StepPlan plan;
  add_sums(plan, graph);
  for (const Task& task : graph.tasks) {
    if (task.resource == Resource::links) plan.sequential_exposed_us[task.traffic] += task.us;
  }
  plan.list_us = apply(graph, {}).schedule.us;
  plan.scheduled_us = schedule.us;
  plan.ideal_us = ideal_us(graph);
  plan.exposed_us = exposed(graph, schedule);
  plan.phases = phases(graph, schedule);
  plan.graph = std::move(graph);
  plan.schedule = std::move(schedule);
  return plan;
}

/// A good policy for a graph, by its tasks alone: from none, and from those that are searched on
/// samples, which takes many trials. So a plan that was printed is found again from its tasks.
Policy found_policy(const TaskGraph& graph) {
  Policy best = search_policy(graph, {}, trials_of(graph, kPolicyTrials));
  double least = apply(graph, best).schedule.us;
  for (const int few : {kFewLayers, 2 * kFewLayers}) {
    const auto sample = sample_of(graph, few);
    if (!sample) break;
    const Policy searched = search_policy(*sample, {}, kPolicyTrials);
    Policy refined = search_policy(graph, searched, trials_of(graph, kFewTrials));
    const double us = apply(graph, refined).schedule.us;
    if (us >= least) continue;
    least = us;
    best = std::move(refined);
  }
  return best;
}

/// A good schedule of the graph from its policy on.
Scheduled found_schedule(const TaskGraph& graph, const Policy& policy) {
  Scheduled best = apply(graph, policy);
  if (graph.tasks.size() > kFewTasks) return best;
  return search_order(graph, std::move(best), kOrderTrials);
}

/// Fills the choice that every plan has, and puts the most important one first.
void finish_choices(StepPlan& plan) {
  plan.choices.push_back({"overlap across operations", plan.operations_us - plan.scheduled_us});
  std::ranges::stable_sort(plan.choices, std::greater{}, &ChoiceGain::us);
}

/// Adds the gain of each decision of a policy on the graph.
void add_choices(StepPlan& plan, const Policy& policy) {
  const double policy_us = apply(plan.graph, policy).schedule.us;
  for (const auto& [kind, fused] : policy.fused) {
    if (!fused) continue;
    Policy other = policy;
    other.fused[kind] = false;
    const double us = apply(plan.graph, other).schedule.us - policy_us;
    plan.choices.push_back({"fused: " + kind, us});
  }
  for (const auto& [kind, earlier] : policy.earlier) {
    Policy other = policy;
    other.earlier.erase(kind);
    const double us = apply(plan.graph, other).schedule.us - policy_us;
    if (us > 0) plan.choices.push_back({(earlier > 0 ? "earlier: " : "later: ") + kind, us});
  }
}

/// Makes a plan of some layers one of `layers`: each further layer adds what the layers beyond
/// those of `shorter` do. Both have the same decisions.
void repeat_layers(StepPlan& plan, const StepPlan& shorter, int layers) {
  const double times = static_cast<double>(layers - plan.planned_layers) /
                       (plan.planned_layers - shorter.planned_layers);
  const auto extend = [&](double& value, double before) { value += times * (value - before); };
  for (const auto time : {&StepPlan::sequential_us, &StepPlan::operations_us, &StepPlan::list_us,
                          &StepPlan::scheduled_us, &StepPlan::ideal_us}) {
    extend(plan.*time, shorter.*time);
  }
  for (const auto range : {&StepPlan::sequential, &StepPlan::operations}) {
    extend((plan.*range).low_us, (shorter.*range).low_us);
    extend((plan.*range).high_us, (shorter.*range).high_us);
  }
  const auto extend_all = [&](std::map<std::string, double>& sums,
                              const std::map<std::string, double>& before) {
    for (auto& [traffic, us] : sums) {
      const auto found = before.find(traffic);
      extend(us, found == before.end() ? 0 : found->second);
    }
  };
  extend_all(plan.exposed_us, shorter.exposed_us);
  extend_all(plan.sequential_exposed_us, shorter.sequential_exposed_us);
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    extend(plan.phases[i].sequential_us, shorter.phases[i].sequential_us);
    extend(plan.phases[i].scheduled_us, shorter.phases[i].scheduled_us);
  }
  for (ChoiceGain& choice : plan.choices) choice.us *= 1 + times / 2;
}

}  // namespace

StepPlan plan_graph(TaskGraph graph) {
  const Scheduled best = found_schedule(graph, found_policy(graph));
  const int most_choices = trials_of(graph, kFewTrials);
  StepPlan plan = measured(std::move(graph), best.schedule);
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < best.fused.size(); ++i) {
    if (best.fused[i] != 0) taken.push_back(i);
  }
  std::ranges::stable_sort(taken, std::greater{}, [&](std::size_t each) {
    return saved(plan.graph, plan.graph.fusions[each]);
  });
  taken.resize(std::min(taken.size(), static_cast<std::size_t>(most_choices)));
  for (const std::size_t i : taken) {
    std::vector<char> other = best.fused;
    other[i] = 0;
    const auto nodes = Nodes::make(plan.graph, other, best.holds);
    if (!nodes) continue;
    const double us = std::min(nodes->in_order(best.keys).us, nodes->list_schedule(best.keys).us);
    const Fusion& fusion = plan.graph.fusions[i];
    plan.choices.push_back({fmt::format("fused: {} + {}", task_at(plan.graph, fusion.compute).name,
                                        task_at(plan.graph, fusion.links).name),
                            us - plan.scheduled_us});
  }
  finish_choices(plan);
  return plan;
}

Expected<StepPlan> plan_step(const ModelConfig& config, const StepShape& shape,
                             const StepCosts& costs) {
  const auto operations = layer_operations(config, shape, costs);
  if (!operations) return error_of(operations);
  const int layers = shape.scope == Scope::layer ? 1 : static_cast<int>(config.layers);
  const int planned = std::min(layers, kMostPlannedLayers);
  const int largest_bucket = layers > planned ? planned / 2 : layers;
  const int few = std::min(planned, kFewLayers);
  const auto sample = step_graph(*operations, shape, costs, few, 1);
  if (!sample) return error_of(sample);
  const Policy searched = search_policy(*sample, {}, kPolicyTrials);

  // Buckets of 1, 2, 4, ... layers.
  std::vector<int> sizes{1};
  const bool buckets = shape.scope == Scope::step && shape.dp > 1;
  while (buckets && 2 * sizes.back() < largest_bucket) sizes.push_back(2 * sizes.back());
  if (buckets && largest_bucket > sizes.back()) sizes.push_back(largest_bucket);
  int bucket_layers = 0;
  double least = 0;
  double one_each = 0;
  TaskGraph best;
  for (const int size : sizes) {
    auto graph = step_graph(*operations, shape, costs, planned, size);
    if (!graph) return error_of(graph);
    const double us = apply(*graph, searched).schedule.us;
    if (size == 1) one_each = us;
    if (bucket_layers > 0 && us >= least) continue;
    bucket_layers = size;
    least = us;
    best = std::move(*graph);
  }
  const Policy policy = found_policy(best);
  Scheduled scheduled = found_schedule(best, policy);
  StepPlan plan = measured(std::move(best), std::move(scheduled.schedule));
  plan.layers = layers;
  plan.planned_layers = planned;
  if (buckets) plan.bucket_layers = bucket_layers;
  if (bucket_layers > 1) {
    plan.choices.push_back(
        {fmt::format("buckets of {} layers instead of 1", bucket_layers), one_each - least});
  }
  add_choices(plan, policy);
  if (layers > planned) {
    auto graph = step_graph(*operations, shape, costs, planned / 2, std::max(bucket_layers, 1));
    if (!graph) return error_of(graph);
    Scheduled half = apply(*graph, policy);
    StepPlan shorter = measured(std::move(*graph), std::move(half.schedule));
    shorter.planned_layers = planned / 2;
    repeat_layers(plan, shorter, layers);
  }
  finish_choices(plan);
  return plan;
}

}  // namespace overlaptune
