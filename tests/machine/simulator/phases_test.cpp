#include "machine/simulator/phases.hpp"

#include <gtest/gtest.h>

#include "machine/catalogue.hpp"
#include "tests/machine/simulator/built_in.hpp"
#include "tests/machine/simulator/configs.hpp"

namespace overlaptune {
namespace {

using test::run;
using test::time_us;

const Problem kSmall{.op = Op::gemm_all_reduce, .m = 256, .n = 512, .k = 512, .ranks = 8};
const Problem kLarge{.op = Op::gemm_all_reduce, .m = 16384, .n = 8192, .k = 7168, .ranks = 8};

struct Phases : testing::Test {
  [[nodiscard]] RunResult in(RunPhase phase, const Problem& problem,
                             const Config& config = {}) const {
    return run(*machine, problem, config, {.repetitions = 25, .phase = phase});
  }
  std::unique_ptr<Machine> machine = value_or_throw(open_machine(std::string("sim:") + name, {}));
  static constexpr const char* name = "h200-rings-x8";
  sim::Profile profile = value_or_throw(sim::parse_profile(test::built_in(name), "built in"));
};

/// A small GEMM draws little power, so its clock is the highest in both phases.
TEST_F(Phases, a_cold_kernel_takes_longer_until_it_computes) {
  const double longer = time_us(in(RunPhase::cold, kSmall)) - time_us(in(RunPhase::steady, kSmall));
  EXPECT_NEAR(longer, profile.library.kernel_start, 0.25 * profile.library.kernel_start);
}

TEST_F(Phases, a_cold_run_begins_below_the_power_limit) {
  const RunResult steady = in(RunPhase::steady, kLarge);
  const RunResult cold = in(RunPhase::cold, kLarge);
  EXPECT_LT(*steady.conditions.sm_clock_mhz, 0.97 * profile.gpu.clock_mhz);
  EXPECT_GT(*cold.conditions.sm_clock_mhz, *steady.conditions.sm_clock_mhz);
}

/// A large GEMM has so many tiles that its time goes with the SMs.
TEST_F(Phases, copies_take_sms_from_a_gemm) {
  const double sms = profile.gpu.sms;
  const double factor =
      time_us(in(RunPhase::beside, kLarge)) / time_us(in(RunPhase::steady, kLarge));
  EXPECT_GT(factor, 1);  // the all-reduce and the clock do not change with the SMs
  EXPECT_LT(factor, 1.15 * sms / (sms - kCopySms));
}

TEST_F(Phases, copies_leave_a_config_its_last_sm) {
  for (const int ctas : {1, 60, 124, 130, 131, 500}) {
    const sim::Profile left =
        sim::in_phase(profile, RunPhase::beside, Chunked{.comm_ctas = ctas, .chunks = 2});
    EXPECT_GE(left.gpu.sms, std::min(ctas + 1, profile.gpu.sms)) << ctas;
    EXPECT_GE(left.gpu.sms, profile.gpu.sms - kCopySms) << ctas;
    EXPECT_DOUBLE_EQ(left.gpu.tensor_flops / left.gpu.sms,
                     profile.gpu.tensor_flops / profile.gpu.sms);
    EXPECT_LT(left.gpu.memory_load, profile.gpu.memory_load + 1e-9);
    EXPECT_GE(left.gpu.memory_load, profile.gpu.memory_load / 2);
  }
}

TEST_F(Phases, each_repeats_itself_and_every_config_runs_in_each) {
  for (const Config& config :
       {Config{}, test::chunked(4, 16),
        Config(test::signaled(kLarge, {128, 256, 64, 4, 2}, 8, 132, 16, 4))}) {
    for (const auto& phase : NamesOf<RunPhase>::all) {
      const RunResult first = in(phase.value, kLarge, config);
      EXPECT_EQ(first.verdict, Verdict::valid) << to_string(config) << " " << phase.name;
      EXPECT_EQ(first.rank_times, in(phase.value, kLarge, config).rank_times);
    }
  }
}

}  // namespace
}  // namespace overlaptune
