// The tasks of a step, counted by hand, and plans of them.

#include "planning/schedules/step_graph.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/schedules/step_plan.hpp"
#include "tests/planning/schedules/simple_steps.hpp"
#include "tests/planning/schedules/small_graphs.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

/// Sums of times by kind of name: "gemm", "attention", a collective, ….
std::map<std::string, double> sums(const TaskGraph& graph) {
  std::map<std::string, double> by;
  for (const Task& task : graph.tasks) {
    by[task.resource == Resource::links ? task.traffic : task.source] += task.us;
  }
  return by;
}

TEST(StepGraph, a_step_has_six_operations_for_each_weight_and_token) {
  StepShape shape{.tp = 4, .dp = 8, .tokens = 4096};
  const StepCosts costs = simple_costs();
  const auto operations = layer_operations(llama_8b(), shape, costs);
  ASSERT_TRUE(operations) << operations.error().message;
  // q and o, k and v, gate, up and down: 218,103,808 weights in a layer of Llama 3 8B.
  const double weights = 2 * 4096.0 * 4096 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 14'336;
  EXPECT_EQ(weights, 218'103'808);
  EXPECT_DOUBLE_EQ(operations->parameters, weights / 4);
  const auto graph = step_graph(*operations, shape, costs, 32, 4);
  ASSERT_TRUE(graph);
  ASSERT_TRUE(check(*graph));
  const auto by = sums(*graph);
  EXPECT_NEAR(by.at("rate"), 32 * 6 * weights / 4 * 4096 / 500e6, 1);
  // 2 products forward, 5 backward, half of each behind the mask.
  EXPECT_NEAR(by.at("tensor"), 32 * 3.5 * 2 * 4096.0 * 4096 * 1024 / 350e6, 1);
  // Forward a gather before qkv and gate_up. Backward one each for the gradients of o and down, and
  // one each for the kept inputs. Each sends three quarters of 4096 x 4096 elements.
  const double gather = 0.75 * 2 * 4096 * 4096 / 200e3;
  EXPECT_NEAR(by.at("all_gather"), 32 * 6 * gather, 1e-6 * 32 * 6 * gather);
  EXPECT_NEAR(by.at("reduce_scatter"), 32 * 4 * gather, 1e-6 * 32 * 4 * gather);
  const double bucket = 32 * weights / 4 * 2 * 7 / 8 / 50e3;
  EXPECT_NEAR(by.at("gradient_reduce_scatter"), bucket, 1e-6 * bucket);
  EXPECT_NEAR(by.at("parameter_all_gather"), bucket, 1e-6 * bucket);
}

TEST(StepGraph, plain_tensor_parallelism_sums_twice_in_each_direction) {
  const StepShape shape{.tp = 4, .sequence_parallel = false, .tokens = 4096};
  const StepCosts costs = simple_costs();
  const auto operations = layer_operations(llama_8b(), shape, costs);
  ASSERT_TRUE(operations);
  const auto graph = step_graph(*operations, shape, costs, 2, 1);
  ASSERT_TRUE(graph);
  const double sum = 2 * 0.75 * 2 * 4096 * 4096 / 200e3;
  const auto by = sums(*graph);
  EXPECT_NEAR(by.at("all_reduce"), 2 * 4 * sum, 1e-6);
  EXPECT_EQ(by.count("all_gather") + by.count("gradient_reduce_scatter"), 0U);
}

TEST(StepGraph, gradients_leave_when_the_last_layer_of_their_bucket_is_done) {
  const StepShape shape{.tp = 1, .dp = 4, .tokens = 1024};
  const StepCosts costs = simple_costs();
  const auto operations = layer_operations(llama_8b(), shape, costs);
  ASSERT_TRUE(operations);
  const auto graph = step_graph(*operations, shape, costs, 5, 2);
  ASSERT_TRUE(graph);
  int buckets = 0;
  for (const Task& task : graph->tasks) {
    if (task.traffic != "gradient_reduce_scatter") continue;
    ++buckets;
    // Four products in each layer; the last bucket of five layers has one layer.
    EXPECT_EQ(task.after.size(), task.name == "gradient_reduce_scatter of bucket 2" ? 4U : 8U);
  }
  EXPECT_EQ(buckets, 3);
}

TEST(StepGraph, weight_gradients_are_put_off_by_so_many_layers) {
  StepShape shape{.tp = 4, .tokens = 4096};
  const StepCosts costs = simple_costs();
  for (const int layers : {0, 1, 3}) {
    shape.put_off_layers = layers;
    const auto plan = plan_step(llama_8b(), shape, costs);
    ASSERT_TRUE(plan);
    std::map<std::string, std::pair<double, double>> times;
    for (const Placed& placed : plan->schedule.placed) {
      const Task& task = plan->graph.tasks[std::size_t(placed.task)];
      times[task.name] = {placed.start_us, placed.end_us};
    }
    const auto first = times.at(fmt::format("backward down dgrad {}", 10));
    for (const char* name : {"o", "qkv", "gate_up", "down"}) {
      const auto gradient = times.at(fmt::format("backward {} wgrad {}", name, 11 + layers));
      EXPECT_LE(gradient.second, first.first + 1e-6);
    }
  }
}

TEST(StepGraph, refuses_sizes_that_do_not_divide) {
  const StepCosts costs = simple_costs();
  const auto refused = [&](const ModelConfig& config, const StepShape& shape) {
    const auto made = layer_operations(config, shape, costs);
    return made ? std::string() : made.error().message;
  };
  EXPECT_THAT(refused(llama_8b(), {.tp = 3, .tokens = 1024}),
              HasSubstr("num_attention_heads = 32"));
  EXPECT_THAT(refused(llama_8b(), {.tp = 4, .tokens = 1023}), HasSubstr("--tokens: 1023"));
  ModelConfig odd = llama_8b();
  odd.intermediate = 14'337;
  EXPECT_THAT(refused(odd, {.tp = 2, .tokens = 1024}), HasSubstr("intermediate_size = 14337"));
  odd = llama_8b();
  odd.kv_heads = 6;
  EXPECT_THAT(refused(odd, {.tp = 4, .tokens = 1024}), HasSubstr("num_key_value_heads = 6"));
  odd = llama_8b();
  odd.experts = 8;
  EXPECT_THAT(refused(odd, {.tp = 4, .tokens = 1024}), HasSubstr("experts"));
}

/// The time in which the links run and nothing computes, moment by moment; a fused pair computes as
/// long as its product alone.
double exposed_in(const StepPlan& plan) {
  std::map<double, std::pair<int, int>> changes;  // of what computes, and of what is on the links
  double of_fused = 0;
  for (const Placed& placed : plan.schedule.placed) {
    const Task& task = plan.graph.tasks[std::size_t(placed.task)];
    const bool fused = placed.fusion >= 0;
    if (fused) of_fused += std::max(0.0, placed.end_us - placed.start_us - task.us);
    const bool is_links = !fused && task.resource == Resource::links;
    const std::pair<int, int> begins = is_links ? std::pair(0, 1) : std::pair(1, 0);
    changes[placed.start_us].first += begins.first;
    changes[placed.start_us].second += begins.second;
    changes[placed.end_us].first -= begins.first;
    changes[placed.end_us].second -= begins.second;
  }
  double sum = 0;
  double before = 0;
  std::pair<int, int> running;
  for (const auto& [moment, change] : changes) {
    if (running.first == 0 && running.second > 0) sum += moment - before;
    running.first += change.first;
    running.second += change.second;
    before = moment;
  }
  return sum + of_fused;
}

TEST(StepPlan, hides_what_can_be_hidden) {
  const auto plan = plan_step(llama_8b(), {.tp = 4, .dp = 8, .tokens = 4096}, simple_costs());
  ASSERT_TRUE(plan) << plan.error().message;
  expect_sound(plan->graph, plan->schedule);
  EXPECT_LT(plan->scheduled_us, plan->operations_us);
  EXPECT_LT(plan->operations_us, plan->sequential_us);
  EXPECT_LE(plan->scheduled_us, plan->list_us);
  EXPECT_GE(plan->scheduled_us, plan->ideal_us);
  double phases = 0;
  for (const PhaseTimes& phase : plan->phases) phases += phase.scheduled_us;
  EXPECT_NEAR(phases, plan->scheduled_us, 1e-6);
  double exposed = 0;
  for (const auto& [traffic, us] : plan->exposed_us) exposed += us;
  EXPECT_NEAR(exposed, exposed_in(*plan), 1e-6);
  ASSERT_FALSE(plan->choices.empty());
  EXPECT_GT(plan->choices.front().us, 0);
}

TEST(StepPlan, of_eighty_layers_is_between_the_ideal_and_list_scheduling) {
  const auto plan = plan_step(llama_70b(), {.tp = 8, .dp = 16, .tokens = 8192}, simple_costs());
  ASSERT_TRUE(plan);
  EXPECT_GT(plan->graph.tasks.size(), 2000U);
  expect_sound(plan->graph, plan->schedule);
  EXPECT_LE(plan->scheduled_us, plan->list_us);
  EXPECT_GE(plan->scheduled_us, plan->ideal_us);
}

TEST(StepPlan, no_optimiser_begins_before_the_last_gradient) {
  StepShape shape{.tp = 4, .dp = 8, .tokens = 4096};
  const auto begins = [](const StepPlan& plan) {
    double update = plan.scheduled_us;
    double gradient = 0;
    for (const Placed& placed : plan.schedule.placed) {
      const Task& task = plan.graph.tasks[static_cast<std::size_t>(placed.task)];
      if (task.kind == "optimiser") update = std::min(update, placed.start_us);
      if (task.kind == "gradient_reduce_scatter") gradient = std::max(gradient, placed.end_us);
    }
    return std::pair(update, gradient);
  };
  const auto [update, gradient] = begins(*plan_step(llama_8b(), shape, simple_costs()));
  EXPECT_GE(update, gradient);
  shape.gradient_norm = false;
  const auto [early, last] = begins(*plan_step(llama_8b(), shape, simple_costs()));
  EXPECT_LT(early, last);
}

/// The plan of a model is a plan of its tasks: neither finds what the other one does not.
TEST(StepPlan, of_the_tasks_of_a_step_is_that_of_the_step) {
  for (const Scope scope : {Scope::layer, Scope::step}) {
    for (const int dp : {1, 8}) {
      const StepShape shape{.tp = 4, .dp = dp, .tokens = 4096, .scope = scope};
      const auto plan = plan_step(llama_8b(), shape, simple_costs());
      ASSERT_TRUE(plan);
      const StepPlan again = plan_graph(plan->graph);
      EXPECT_DOUBLE_EQ(again.scheduled_us, plan->scheduled_us);
    }
  }
}

/// Forward, equal layers follow one another: each adds the same time.
TEST(StepPlan, of_very_many_layers_repeats_equal_ones) {
  ModelConfig config = llama_8b();
  const StepShape shape{.tp = 4, .tokens = 4096, .scope = Scope::forward};
  const auto us = [&](std::int64_t layers) {
    config.layers = layers;
    const auto plan = plan_step(config, shape, simple_costs());
    EXPECT_EQ(plan->layers, layers);
    EXPECT_LE(plan->planned_layers, 256);
    return std::pair(plan->sequential_us, plan->scheduled_us);
  };
  const auto [sequential, scheduled] = us(2'147'483'647);
  const auto [of_200, scheduled_of_200] = us(200);
  const auto [of_100, scheduled_of_100] = us(100);
  EXPECT_NEAR(sequential / 2'147'483'647 / (of_200 / 200), 1, 1e-9);
  EXPECT_NEAR(scheduled / 2'147'483'647 / ((scheduled_of_200 - scheduled_of_100) / 100), 1, 1e-3);
}

}  // namespace
}  // namespace overlaptune
