#include "planning/schedules/planned_step.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace overlaptune {

PlannedStep plan_model_step(const ModelConfig& config, const StepShape& shape,
                            const KnownRates& known, const StepGrounds& grounds) {
  value_or_throw(check_layers(config, shape));
  const Platform& platform = grounds.platform;
  const std::int64_t gpus = std::int64_t{shape.tp} * shape.dp;
  if (shape.scope == Scope::step && shape.dp > 1 && gpus > platform.gpu_count &&
      !known.data_parallel_gb_per_s) {
    throw Failure(
        ErrorKind::bad_input,
        fmt::format("--dp {}: with --tp {} {} GPUs, of which {} were probed on {}: expected "
                    "--data-parallel-gb-per-s, the rate of a GPU's links between replicas",
                    shape.dp, shape.tp, gpus, platform.gpu_count, full_name(platform)));
  }
  const PlatformCosts costs(grounds, config, known);
  const StepClocks clocks = costs.clocks(config, shape);
  PlannedStep made{.name = config.name,
                   .shape = shape,
                   .plan = value_or_throw(plan_step(config, shape, costs.costs(clocks))),
                   .costs = costs.sources(),
                   .assumptions = assumptions_of_attention(config, shape.tokens),
                   .platform = platform};
  if (made.plan.layers > made.plan.planned_layers) {
    made.notes.push_back(fmt::format("{} of {} equal layers are planned; the others repeat them",
                                     made.plan.planned_layers, made.plan.layers));
  }
  made.notes.emplace_back(
      "low and high: if every operation was as far off as those of measured layers have been "
      "(docs/step.md)");
  if (!costs.are_known() && !is_simulated(platform)) {
    made.notes.push_back(
        fmt::format("norms, rope, activations{} and attention are assumed: `scripts/compare-step "
                    "--store` measures them",
                    is_quantised(elements_of_layer(config)) ? ", quantising" : ""));
  }
  made.notes.emplace_back("embedding and lm_head are left out: once a model, not once a layer");
  return made;
}

}  // namespace overlaptune
