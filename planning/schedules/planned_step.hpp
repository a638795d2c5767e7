#pragma once
// The plan of a model's layer, pass or training step, with what it rests on.

#include <optional>
#include <string>
#include <vector>

#include "core/platform.hpp"
#include "planning/schedules/platform_costs.hpp"
#include "planning/schedules/step_plan.hpp"
#include "workload/assumptions.hpp"

namespace overlaptune {

struct PlannedStep {
  std::string source{};  ///< the file of the model or the graph
  std::string name{};    ///< of the model, or the file of the graph
  StepShape shape{};     ///< without a meaning for a graph
  StepPlan plan{};
  std::vector<std::string> costs{};  ///< sentences on where the times of the tasks come from
  std::vector<std::string> notes{};
  Assumptions assumptions{};
  std::optional<Platform> platform{};  ///< none: a graph that was given
};

/// Plans the model on the platform; `source` stays empty. Throws `Failure` (`bad_input`): more GPUs
/// than were probed without a rate between replicas, and as `PlatformCosts` and `plan_step`.
[[nodiscard]] PlannedStep plan_model_step(const ModelConfig& config, const StepShape& shape,
                                          const KnownRates& known, const StepGrounds& grounds);

}  // namespace overlaptune
