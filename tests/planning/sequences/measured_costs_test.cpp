// Costs from the probes of a simulated machine, judged by the probes themselves.

#include "planning/sequences/measured_costs.hpp"

#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fitted.hpp"
#include "planning/sequences/search/solver.hpp"

namespace overlaptune {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;

ModelConfig small_llama() {
  return {.name = "small",
          .layers = 4,
          .hidden = 4096,
          .intermediate = 11'008,
          .heads = 32,
          .kv_heads = 32,
          .head_dim = 128,
          .value_head_dim = 128};
}

std::span<const Model> models() {
  static const Model kModel = fit_simulated("h200-nvlink-x8", 2).model;
  return {&kModel, 1};
}

void expect_times_of_the_probed_machine() {
  const auto made = measured_costs(small_llama(), models(), {.gpus = 2});
  ASSERT_TRUE(made) << made.error().message;
  // 6 operations for each parameter and token, at rates that an H200 reaches: 400 to 800 Tflop/s.
  const double parameters = 4.0 * (4096.0 * 3 * 4096 + 4096.0 * 4096 + 3 * 11'008.0 * 4096);
  const double tflops = 6 * parameters / made->costs.linear_us / 1e6;
  EXPECT_GT(tflops, 400);
  EXPECT_LT(tflops, 800);
  EXPECT_DOUBLE_EQ(made->costs.bytes_of_state, 16 * parameters / 2);
  // Four tensors there and four back, in every layer; a link of 450 GB/s cannot be beaten.
  const double bytes = 8.0 * 4 * 4096 * 2 / 2 / 2;  // half of a GPU's half stays
  EXPECT_GT(made->costs.exchange_us_per_token(2), bytes / 450e3);
  EXPECT_LT(made->costs.exchange_us_per_token(2), bytes / 100e3);
  EXPECT_GT(made->costs.fixed_us(2), 0);
  EXPECT_EQ(made->costs.exchange_us_per_token(1), 0);
}

void expect_recomputation_to_trade_memory_for_a_forward_pass() {
  const auto kept = measured_costs(small_llama(), models(), {.gpus = 2});
  const auto again = measured_costs(small_llama(), models(), {.gpus = 2, .recompute = true});
  ASSERT_TRUE(kept && again);
  EXPECT_NEAR(again->costs.linear_us / kept->costs.linear_us, 4.0 / 3, 0.05);
  EXPECT_LT(again->costs.bytes_of_token, kept->costs.bytes_of_token / 2);
}

void expect_what_is_known_to_go_first() {
  MeasuredRequest request{.gpus = 4};
  const auto missing = measured_costs(small_llama(), models(), request);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("4 ranks"), std::string::npos) << missing.error().message;
  request.known = {.bytes_per_us = {{4, 20e3}}, .attention_tflops = 500, .fixed_us = 7};
  const auto made = measured_costs(small_llama(), models(), request);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_DOUBLE_EQ(made->costs.exchange_us_per_token(4), 8.0 * 4 * 4096 * 2 / 4 / 20e3);
  EXPECT_DOUBLE_EQ(made->costs.fixed_us(1), 7);
  ModelConfig encoder = small_llama();
  encoder.causal = false;
  const auto whole = measured_costs(encoder, models(), request);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_DOUBLE_EQ(whole->costs.quadratic_us, 2 * made->costs.quadratic_us);
  // Causal: half of 4 s^2 h, three and a half times (two products forward, five backward).
  EXPECT_DOUBLE_EQ(made->costs.quadratic_us, 4.0 * 2 * 4096 * 3.5 / 500e6);
}

void expect_groups_wider_than_a_node_to_ask_for_its_rate() {
  // Two GPUs were probed side by side; as two nodes of one GPU their rate is not known.
  MeasuredRequest request{.gpus = 2, .per_node = 1};
  const auto missing = measured_costs(small_llama(), models(), request);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("the rate between nodes is not known"), std::string::npos)
      << missing.error().message;
  request.known = {.bytes_per_us = {{2, 50e3}}, .parameters = 1e9};
  const auto made = measured_costs(small_llama(), models(), request);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_DOUBLE_EQ(made->costs.exchange_us_per_token(2), 8.0 * 4 * 4096 * 2 / 2 / 50e3);
  // Two bytes of each parameter, gathered twice and scattered once.
  EXPECT_DOUBLE_EQ(made->costs.fixed_us(1), 3 * 2e9 / 50e3);
  EXPECT_THAT(made->sources, Contains("a micro-batch: 120.0 ms, parameters gathered twice and "
                                      "gradients scattered at the rate between nodes"));
  EXPECT_THAT(made->sources, Contains("all-to-all: measured, but for degrees 2 from --costs"));
  EXPECT_THAT(made->sources, Contains(EndsWith("state of 1.00 x 10^9 parameters")));
}

void expect_models_without_one_projection_to_be_refused() {
  ModelConfig experts = small_llama();
  experts.experts = 8;
  EXPECT_FALSE(measured_costs(experts, models(), {.gpus = 2}));
  ModelConfig latent = small_llama();
  latent.latent_attention = true;
  EXPECT_FALSE(measured_costs(latent, models(), {.gpus = 2}));
}

void expect_plans_from_probe_to_groups() {
  const auto made = measured_costs(small_llama(), models(), {.gpus = 2});
  ASSERT_TRUE(made);
  const Rates rates(made->costs, {2, 2, 40e9});
  const std::vector<std::int64_t> lengths{65'536, 16'384, 4096, 4096, 1024, 1024, 512, 512};
  const BatchPlan plan = plan_batch(rates, lengths);
  EXPECT_EQ(plan.tokens, 93'184);
  EXPECT_LE(plan.lower_bound_us, plan.time_us);
}

/// One test, because probing the simulated machine takes longer than all of it.
TEST(MeasuredCosts, follow_from_the_probes) {
  expect_times_of_the_probed_machine();
  expect_recomputation_to_trade_memory_for_a_forward_pass();
  expect_what_is_known_to_go_first();
  expect_groups_wider_than_a_node_to_ask_for_its_rate();
  expect_models_without_one_projection_to_be_refused();
  expect_plans_from_probe_to_groups();
}

}  // namespace
}  // namespace overlaptune
