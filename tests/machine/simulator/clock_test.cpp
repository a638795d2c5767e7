#include "machine/simulator/clock.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace overlaptune::sim {
namespace {

Profile profile() {
  Profile profile;
  profile.power = {
      .idle_w = 100, .limit_w = 700, .flop_joules = 1e-12, .byte_joules = 1e-10, .window = 500};
  return profile;
}

/// The state of work that keeps the tensor cores at `tflops` for `time` microseconds.
ClockState at(double tflops, double time) {
  return clock_state(profile(), {.flops = tflops * 1e6 * time}, {.time = time});
}

TEST(Clock, light_work_keeps_the_highest_clock) {
  EXPECT_GT(at(200, 1e4).factor, 0.999);
}

TEST(Clock, heavy_work_loses_clock_the_longer_it_runs) {
  double before = 1;
  for (const double time : {10.0, 100.0, 1000.0, 10000.0}) {
    const double factor = at(900, time).factor;
    EXPECT_LT(factor, before);
    before = factor;
  }
  EXPECT_GT(at(900, 10).factor, 0.99);
  EXPECT_LT(at(900, 1e4).factor, 0.9);
}

// In the long run power meets the limit: 900 TFLOP/s would draw 100 + 900 W, and power above idle
// falls with the clock to the power of 2.5.
TEST(Clock, sustained_power_stays_near_the_limit) {
  const double factor = at(900, 1e7).factor;
  EXPECT_NEAR(100 + 900 * std::pow(factor, 2.5), 700, 30);
}

TEST(Clock, what_a_collective_draws_is_lost_to_the_gemm) {
  const Load gemm{.flops = 600e6 * 1000};
  const Load both{.flops = gemm.flops, .wire_bytes = 1e9};
  EXPECT_LT(clock_state(profile(), both, {.time = 1000}).factor,
            clock_state(profile(), gemm, {.time = 1000}).factor);
}

}  // namespace
}  // namespace overlaptune::sim
