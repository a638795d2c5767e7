// The factors by which a GEMM and a collective slow each other, worked out by hand.

#include "machine/simulator/contention.hpp"

#include <gtest/gtest.h>

namespace overlaptune::sim {
namespace {

/// Half of the shares counts at the loads 0.25 and 1.5.
Profile saturating() {
  Profile profile;
  profile.contention = {
      .gemm_share = 0.6, .gemm_half = 0.25, .collective_share = 0.3, .collective_half = 1.5};
  return profile;
}

Profile congested() {
  Profile profile = saturating();
  profile.gpu.l2_load = 100;
  profile.congestion = CongestionProfile{.tile_wait = 1,
                                         .store_rate = 300,
                                         .load_share = 0.5,
                                         .latency_share = 0.5,
                                         .link_share = 0.1,
                                         .load_half = 0.5};
  return profile;
}

TEST(Contention, saturates_with_the_load) {
  const CollectiveRun collective{.link_load = 0.5};
  const TileTimes gemm{.memory_load = 0.5};
  EXPECT_DOUBLE_EQ(gemm_slowdown(saturating(), collective, gemm), 1 + 0.6 * 2 / 3);
  EXPECT_DOUBLE_EQ(collective_slowdown(saturating(), gemm), 1 + 0.3 / 4);
  EXPECT_EQ(own_slowdown(saturating(), collective, gemm), 1);
}

/// A queue of 2 * 3 * 3 / 4, in which stores wait for 1 + 2 us and loads for 2 us, in 10 us.
TEST(Contention, with_congestion_a_gemm_waits_in_a_queue) {
  const CollectiveProfile profile{.queue = 2};
  const CollectiveRun collective{.demand = 3, .queue = 4.5, .profile = &profile};
  const TileTimes gemm{.whole = 10, .memory_load = 1, .loaded_at_once = 400, .stored_at_once = 600};
  EXPECT_DOUBLE_EQ(gemm_slowdown(congested(), collective, gemm), 1 + 4.5 * (3 + 2) / 10);
  EXPECT_EQ(collective_slowdown(congested(), gemm), 1);
}

/// A fifth of the collective is latency. At a demand of 1.3 the rest is half waits of its CTAs, at
/// twice that a seventeenth.
TEST(Contention, with_congestion_a_collective_waits_by_what_limits_it) {
  const CollectiveProfile profile{.wait_share = 0.4};
  CollectiveRun collective{.time = 10, .latency = 2, .demand = 1.3, .profile = &profile};
  const TileTimes gemm{.memory_load = 1};
  EXPECT_NEAR(own_slowdown(congested(), collective, gemm),
              1 + (0.2 * 0.5 + 0.8 * (0.4 + 0.1) / 2) / 1.5, 1e-12);
  collective.demand = 2.6;
  EXPECT_NEAR(own_slowdown(congested(), collective, gemm),
              1 + (0.2 * 0.5 + 0.8 * (0.4 + 16 * 0.1) / 17) / 1.5, 1e-12);
}

}  // namespace
}  // namespace overlaptune::sim
