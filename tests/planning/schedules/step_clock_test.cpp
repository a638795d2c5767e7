// The clock of a step, beside bisection on a layer that is counted by hand.

#include "planning/schedules/step_clock.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// 300 us of GEMMs at full clock, 80 us of a collective, 20 us of a norm; the fusion saves 60 us.
LayerOperations layer(Elements elements = Elements::bf16) {
  LayerOperations made;
  const auto add = [&](Resource resource, bool is_gemm, double us, const GemmSize& size) {
    LayerTask& task = made.forward.tasks.emplace_back();
    task.task = {.resource = resource, .is_gemm = is_gemm, .elements = elements, .us = us};
    task.size = size;
  };
  add(Resource::compute, true, 200, {1000, 2000, 3000});
  add(Resource::links, false, 80, {});
  add(Resource::compute, false, 20, {});
  add(Resource::compute, true, 100, {1000, 1000, 3000});
  made.forward.fusions.push_back({.compute = 0, .links = 1, .us = 220, .extra_loads = 0.01});
  return made;
}

/// Slower the more multiply-adds, and loads of fused GEMMs, a round has for its time.
double slowdown(const Load& load) {
  return 1 + (load.work + 10 * load.loads) / load.round / 6e7;
}

/// The factor f of which `slowdown` says the same, for a round of `share` of its parts' time.
double bisected(double share, double loads) {
  const double work = 6e9 + 3e9;
  double low = 1;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const double round = share * (300 * middle + 80 + 20);
    (1 + (work + 10 * loads) / round / 6e7 > middle ? low : high) = middle;
  }
  return low;
}

TEST(StepClock, is_the_one_at_which_the_power_slows_gemms_so_much) {
  const StepClocks clocks = step_clocks(layer(), slowdown);
  EXPECT_NEAR(clocks.apart, bisected(1, 0), 1e-3);
  EXPECT_NEAR(clocks.overlapped, bisected(340.0 / 400, 0.01 * 6e9), 1e-3);
  EXPECT_GT(clocks.overlapped, clocks.apart);
}

TEST(StepClock, a_round_has_all_passes) {
  LayerOperations both = layer();
  both.backward = both.forward;
  const StepClocks one = step_clocks(layer(), slowdown);
  const StepClocks two = step_clocks(both, slowdown);
  EXPECT_NEAR(one.apart, two.apart, 1e-9);
  EXPECT_NEAR(one.overlapped, two.overlapped, 1e-9);
}

TEST(StepClock, of_the_rest_of_a_round_the_model_is_told) {
  double most_rest = 0;
  const auto seen = [&](const Load& load) {
    most_rest = std::max(most_rest, load.rest);
    EXPECT_NEAR(load.bytes,
                product_bytes(1000, 2000, 3000, Elements::fp16) +
                    product_bytes(1000, 1000, 3000, Elements::fp16),
                1);
    EXPECT_EQ(load.collective, 80);
    return 1.0;
  };
  const StepClocks clocks = step_clocks(layer(Elements::fp16), seen);
  EXPECT_EQ(clocks.apart, 1);
  EXPECT_NEAR(most_rest, 20, 1e-9);
  EXPECT_EQ(step_clocks({}, seen).apart, 1);  // no GEMM
}

TEST(StepClock, each_product_has_the_bytes_of_its_own_elements) {
  LayerOperations mixed = layer();
  mixed.forward.tasks[3].task.elements = Elements::e4m3_rows_bf16;
  // Two bytes each; one byte for operands and two for results.
  const double bytes = 2 * (1000.0 * 3000 + 2000.0 * 3000 + 1000.0 * 2000) +
                       (1000.0 * 3000 + 1000.0 * 3000) + 2 * 1000.0 * 1000;
  const auto seen = [&](const Load& load) {
    EXPECT_NEAR(load.bytes, bytes, 1);
    EXPECT_EQ(load.elements, Elements::bf16);  // two thirds of the work
    return 1.0;
  };
  EXPECT_EQ(step_clocks(mixed, seen).apart, 1);
}

}  // namespace
}  // namespace overlaptune
