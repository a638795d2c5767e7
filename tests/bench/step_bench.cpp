// How long planning a training step takes.

#include <benchmark/benchmark.h>

#include "planning/schedules/step_plan.hpp"
#include "tests/planning/schedules/simple_steps.hpp"

namespace overlaptune {
namespace {

/// Eighty layers, more than 2,000 tasks: below a second.
void eighty_layers(benchmark::State& state) {
  const ModelConfig config = llama_70b();
  for (auto _ : state) {
    auto plan = plan_step(config, {.tp = 8, .dp = 16, .tokens = 8192}, simple_costs());
    if (!plan) state.SkipWithError(plan.error().message.c_str());
    benchmark::DoNotOptimize(plan);
  }
}
BENCHMARK(eighty_layers)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace overlaptune
