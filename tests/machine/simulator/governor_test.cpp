// The clock by voltage and two power limits.

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "machine/catalogue.hpp"
#include "machine/simulator/clock.hpp"
#include "tests/machine/simulator/built_in.hpp"
#include "tests/machine/simulator/csv.hpp"

namespace overlaptune::sim {
namespace {

constexpr double kFullMhz = 2000;

PowerProfile power() {
  return {.idle_w = 100,
          .limit_w = 700,
          .flop_joules = 1e-12,
          .byte_joules = 1e-10,
          .window = 500,
          .governor = GovernorProfile{.volts = {{1000, 2000}, {0.5, 1}},
                                      .clock_w = 100,
                                      .load_joules = 2e-11,
                                      .memory_joules = 0,
                                      .peak_w = 1000,
                                      .leak_share = 0}};
}

/// A GEMM that would keep the tensor cores at `tflops` with the highest clock, in `share` of rounds
/// of a millisecond.
ClockState at(double tflops, double share = 1, double loaded_gb_per_s = 0,
              const PowerProfile& profile = power(), bool settled = true) {
  const double time = 1000;
  const double gemm = share * time;
  return governed(profile, kFullMhz,
                  {.flops = tflops * 1e6 * gemm, .loaded_bytes = loaded_gb_per_s * 1e3 * gemm},
                  {.time = time, .gemm = gemm, .settled = settled});
}

TEST(Governor, light_work_keeps_the_highest_clock) {
  EXPECT_GT(at(200).factor, 0.999);
  EXPECT_DOUBLE_EQ(at(0, 0).factor, 1);
}

// Volts go with the clock here, so energy goes with its square, and power (at a rate that goes with
// the clock) with its cube: 100 + (100 + 900) f^3 = 700.
TEST(Governor, a_settled_gemm_meets_the_limit) {
  const ClockState state = at(900);
  EXPECT_NEAR(state.factor, std::cbrt(0.6), 0.01);
  EXPECT_NEAR(state.power_w, 700, 15);
}

// In a tenth of the time the mean is far below the limit: 100 + (100 + 1700) f^3 = 1000.
TEST(Governor, a_gemm_that_runs_seldom_meets_the_limit_of_the_moment) {
  const ClockState state = at(1700, 0.1);
  EXPECT_NEAR(state.factor, std::cbrt(0.5), 0.01);
  EXPECT_LT(state.power_w, 400);
  EXPECT_GT(state.mean, 0.95);  // the clock recovers between GEMMs
}

TEST(Governor, a_tile_that_loads_more_lowers_the_clock) {
  EXPECT_LT(at(900, 1, 5000).factor, at(900, 1, 1000).factor - 0.01);
}

TEST(Governor, brief_work_keeps_more_of_its_clock_and_a_hot_gpu_less) {
  EXPECT_GT(at(900, 1, 0, power(), false).factor, at(900).factor + 0.03);
  PowerProfile leaking = power();
  leaking.governor->leak_share = 0.1;
  EXPECT_LT(at(900, 1, 0, leaking).factor, at(900).factor - 0.01);
}

// GEMMs of 8192 x 8192 in turn with all-reduces on 8 GPUs, from one that runs most of the time to
// one that runs a fifth of it.
TEST(Governor, rounds_take_what_they_took_on_eight_gpus) {
  const auto machine = value_or_throw(open_machine("sim:h200-nvlink-x8", {.seed = 3}));
  const auto rows = test::read_csv("h200x8_sustained.csv");
  ASSERT_EQ(rows.size(), 5U);
  for (const test::Row& row : rows) {
    const SustainedProbe probe{.gemm = {.m = 8192, .n = 8192, .k = std::stoll(row.at("k"))},
                               .collective = {.collective = Collective::all_reduce,
                                              .bytes = {std::stoll(row.at("all_reduce_bytes"))},
                                              .ranks = 8}};
    const Measurement round = value_or_throw(machine->measure(probe));
    EXPECT_NEAR(round.time.median.count() / std::stod(row.at("round_us")), 1, 0.05)
        << row.at("k") << ", " << row.at("all_reduce_bytes");
    EXPECT_NEAR(round.conditions.sm_clock_mhz.value() / std::stod(row.at("sm_clock_mhz")), 1, 0.1);
  }
}

/// The predicted settled time of a generated GEMM over the measured one, for each row of a table of
/// `power_bench`. The measured clock and time tell the time at full clock.
std::vector<double> settled_over_measured(const Profile& profile,
                                          const std::vector<test::Row>& rows) {
  std::vector<double> ratios;
  for (const test::Row& row : rows) {
    const auto number = [&](const char* name) { return std::stod(row.at(name)); };
    if (number("block_m") == 0) continue;  // a library does not tell what it loads
    constexpr double kSize = 8192;
    constexpr double kElementBytes = 2;
    const double k = number("k");
    const double macs = kSize * kSize * k;
    const double loads = 1 / number("block_n") + 1 / (number("block_m") * number("cluster"));
    const double time = number("us") * number("sm_clock_mhz") / profile.gpu.clock_mhz;
    const ClockState state =
        governed(profile.power, profile.gpu.clock_mhz,
                 {.flops = 2 * macs,
                  .loaded_bytes = kElementBytes * macs * loads,
                  .memory_bytes = kElementBytes * (2 * kSize * k + kSize * kSize)},
                 {.time = time, .gemm = time, .settled = true});
    ratios.push_back(time / state.factor / number("us"));
  }
  return ratios;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The mean distance from the mean, as a share of the mean.
double spread(const std::vector<double>& values) {
  const double middle = mean(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value / middle - 1));
  return mean(distances);
}

// GEMMs by themselves in six tiles, at three depths, on all SMs and on fewer. The profile is that
// of the slowest of eight GPUs, so it may be slower as a whole, but not by tile or number of SMs.
TEST(Governor, tiles_settle_in_the_ratios_of_one_gpu) {
  Profile profile = value_or_throw(parse_profile(test::built_in("h200-nvlink-x8"), "x8"));
  const auto rows = test::read_csv("h200_power.csv");
  const std::vector<double> ratios = settled_over_measured(profile, rows);
  ASSERT_EQ(ratios.size(), 30U);
  EXPECT_LT(spread(ratios), 0.013);
  EXPECT_NEAR(mean(ratios), 1, 0.1);
  // This is the energy of loads. Without it, tiles come out alike.
  profile.power.governor->load_joules = 0;
  EXPECT_GT(spread(settled_over_measured(profile, rows)), 0.015);
}

}  // namespace
}  // namespace overlaptune::sim
