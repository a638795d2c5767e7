#pragma once
// Tasks on two resources, the GPU's compute and its links, and what may be fused.

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/names.hpp"
#include "core/elements.hpp"
#include "core/measurement.hpp"

namespace overlaptune {

/// The resource that a task occupies while it runs.
enum class Resource {
  compute,  ///< kernels that calculate
  links,    ///< a collective
  both,     ///< a GEMM and its collective, overlapped in one operation
};

template <>
struct NamesOf<Resource> {
  static constexpr std::string_view what = "resource";
  static constexpr std::array<Named<Resource>, 3> all{
      {{Resource::compute, "compute"}, {Resource::links, "links"}, {Resource::both, "both"}}};
};

/// The part of a training step that a task belongs to.
enum class Phase { forward, backward, update };

template <>
struct NamesOf<Phase> {
  static constexpr std::string_view what = "phase";
  static constexpr std::array<Named<Phase>, 3> all{
      {{Phase::forward, "forward"}, {Phase::backward, "backward"}, {Phase::update, "update"}}};
};

/// How far the time of an operation may be from its `us`: from `low * us` to `high * us + more_us`.
struct Doubt {
  double low = 1;
  double high = 1;
  double more_us = 0;
  friend bool operator==(const Doubt&, const Doubt&) = default;
};

[[nodiscard]] constexpr double least_us(double us, const Doubt& doubt) {
  return doubt.low * us;
}
[[nodiscard]] constexpr double most_us(double us, const Doubt& doubt) {
  return doubt.high * us + doubt.more_us;
}

struct Task {
  std::string name{};
  std::string kind{};     ///< the same task of each layer has the same kind
  std::string traffic{};  ///< on the links: what exposed times are summed by: "all_gather"
  Resource resource = Resource::compute;
  Phase phase = Phase::forward;
  bool is_gemm = false;
  Elements elements = Elements::bf16;  ///< of a GEMM
  double us = 0;                       ///< with nothing beside it
  double slows = 1;          ///< on the links: the factor on a compute task beside it, at least 1
  double slowed = 1;         ///< on the links: the factor on itself beside a compute task
  double beside_fused = 1;   ///< on compute: the factor on `us` where others are fused, at least 1
  std::vector<int> after{};  ///< indices of the tasks that must end before
  std::string source{};      ///< where `us` comes from
  Doubt doubt{};
  std::optional<LayerProbe> probe{};  ///< measures this task; none: nothing measures it in a graph
};

/// A compute task and a task on the links, one of them after the other, which may run as one task
/// on both resources.
struct Fusion {
  int compute = 0;
  int links = 0;
  std::string kind{};
  double us = 0;  ///< of both as one
  std::string source{};
  Doubt doubt{};
  double extra_loads = 0;  ///< `extra_loads` of the tile of its GEMM (model/clock_model.hpp)
};

struct TaskGraph {
  std::vector<Task> tasks{};
  std::vector<Fusion> fusions{};
};

/// The time that a fusion saves where others are fused, too: negative where it takes longer than
/// its tasks.
[[nodiscard]] double saved(const TaskGraph& graph, const Fusion& fusion);

/// The fusions that save time, those that save most first. A task is in one of them.
[[nodiscard]] std::vector<const Fusion*> best_fusions(const TaskGraph& graph);

/// Each task behind those that it waits for; fewer than all where tasks wait in a cycle.
[[nodiscard]] std::vector<int> in_order(const TaskGraph& graph);

/// The greater one of all compute and all traffic, each at its fastest.
[[nodiscard]] double ideal_us(const TaskGraph& graph);

inline constexpr double kMostTaskUs = 1e12;
inline constexpr double kMostTaskFactor = 100;

/// Error, naming the tasks: times that are negative or not finite, factors below 1, indices that do
/// not exist, tasks that wait for each other in a cycle; fusions of other tasks than the two that
/// they need, of a pair that is there twice, in less time than the compute task's, or with a third
/// task between the two.
[[nodiscard]] Expected<void> check(const TaskGraph& graph);

/// Reads a graph from JSON: `tasks` with `name`, `resource`, `us` and, as needed, `after` (names),
/// `slows`, `slowed`, `beside_fused`, `kind`; `fusions` with `compute`, `links` (names) and `us`.
/// Beside the plan that `json_of` (reports) wrote, its other fields are passed over. Error, naming
/// `origin` and the field or task: what `check` refuses, unknown or repeated names, and unknown or
/// repeated fields.
[[nodiscard]] Expected<TaskGraph> parse_task_graph(std::string_view text, std::string_view origin);

}  // namespace overlaptune
