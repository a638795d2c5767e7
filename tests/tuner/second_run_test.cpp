#include "tuner/second_run.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/tuner/captured_log.hpp"
#include "tests/tuner/counting_machine.hpp"

namespace overlaptune {
namespace {

const Problem kLarge{Op::gemm_all_reduce, 4096, 8192, 8192, Elements::bf16, 8};

/// The log of a second run whose trace shows one GEMM and nothing else.
std::string said_of(const char* config) {
  CountingMachine machine;
  machine.after_trace = [](auto& results) {
    results->at(1).activities = {{.kind = ActivityKind::gemm, .start = us(0), .end = us(100)}};
  };
  const Candidate sequential{.problem = kLarge};
  const Candidate best{.problem = kLarge, .config = value_or_throw(parse_config(config))};
  const CapturedLog log;
  const auto confirmed =
      SecondRun(machine, [](std::span<const PhaseResult>) {}).confirmed({best}, sequential);
  EXPECT_TRUE(confirmed) << config;
  EXPECT_FALSE(confirmed && confirmed->overlap_fraction) << config;
  EXPECT_EQ(machine.traces.size(), 1U) << config;
  return log.text();
}

TEST(SecondRun, misses_a_collective_only_where_it_is_a_kernel_of_its_own) {
  EXPECT_EQ(said_of("peer_store tile=128x256x64 stages=4 cluster=1 swizzle=8 groups=512,512"), "");
  EXPECT_NE(
      said_of("signaled tile=128x256x64 stages=4 cluster=1 swizzle=8 ctas=16 transport=symmetric "
              "groups=256,256,256,256")
          .find("no GEMM or no collective was seen"),
      std::string::npos);
}

}  // namespace
}  // namespace overlaptune
