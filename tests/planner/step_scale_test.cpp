// The time that planning a large model takes.

#include <chrono>

#include <gtest/gtest.h>

#include "planner/step_plan.hpp"
#include "tests/planner/simple_steps.hpp"

namespace overlaptune {
namespace {

TEST(StepPlan, eighty_layers_take_less_than_a_second) {
  ModelConfig config = llama_8b();
  config.layers = 80;
  config.hidden = 8192;
  config.heads = 64;
  config.intermediate = 28'672;
  const auto start = std::chrono::steady_clock::now();
  const auto plan = plan_step(config, {.tp = 8, .dp = 16, .tokens = 8192}, simple_costs());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(plan);
  EXPECT_GT(plan->graph.tasks.size(), 2000U);
  EXPECT_LT(took.count(), 1.0);
}

}  // namespace
}  // namespace overlaptune
