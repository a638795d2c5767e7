// Steps of a GEMM that stores its tiles at their owners, worked out by hand: 4 SMs, tiles of 10 us.

#include "strategies/peer_store/model_step.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

StoreProblem store_problem(std::vector<std::int64_t> cuts) {
  return {.ranks = 2, .sms = 4, .tile_time = 10, .sent = 1, .cuts = std::move(cuts)};
}

TEST(Sending, of_three_waves_by_hand) {
  // 24 tiles, half of them sent: 0.5 us of the links for a tile on average.
  StoreProblem problem = store_problem({0, 24});
  const Sending long_one(problem, 0, 12, 1);
  EXPECT_DOUBLE_EQ(long_one.first, 10);
  EXPECT_DOUBLE_EQ(long_one.all, 12);
  EXPECT_DOUBLE_EQ(long_one.next, 30);
  EXPECT_DOUBLE_EQ(long_one.in_flight, 8);  // two tiles of each SM
  EXPECT_TRUE(long_one.waits);
  EXPECT_DOUBLE_EQ(long_one.freed, 10);
  EXPECT_DOUBLE_EQ(long_one.begun, 0);
  EXPECT_DOUBLE_EQ(long_one.before, 4);
  EXPECT_DOUBLE_EQ(long_one.held_up, 0);
  EXPECT_DOUBLE_EQ(long_one.last.produced, 30);
  EXPECT_DOUBLE_EQ(long_one.last.sent, 4);
  EXPECT_DOUBLE_EQ(long_one.last_but_one.produced, 20);
  EXPECT_DOUBLE_EQ(long_one.last_but_one.sent, 8);
  // Buffers for half a tile: an SM has one and a half tiles that have not left, and is held up for
  // half of the 2 us in which the other halves of a wave leave.
  problem.held = 0.5;
  const Sending held(problem, 0, 12, 1);
  EXPECT_DOUBLE_EQ(held.in_flight, 6);
  EXPECT_DOUBLE_EQ(held.before, 6);
  EXPECT_DOUBLE_EQ(held.held_up, 3);
}

TEST(Sending, of_less_than_a_wave_by_hand) {
  const Sending short_one(store_problem({0, 24}), 12, 15, 1);
  EXPECT_DOUBLE_EQ(short_one.first, 40);
  EXPECT_DOUBLE_EQ(short_one.next, 30);
  EXPECT_DOUBLE_EQ(short_one.begun, 30);
  // All three, and 8 of those before, which were sent in half a microsecond each.
  EXPECT_DOUBLE_EQ(short_one.in_flight, 3 + 4);
  EXPECT_DOUBLE_EQ(short_one.freed, 10);
  EXPECT_DOUBLE_EQ(short_one.before, 0);
  EXPECT_DOUBLE_EQ(short_one.last.produced, 40);
  EXPECT_DOUBLE_EQ(short_one.last.sent, 3);
  EXPECT_DOUBLE_EQ(short_one.last_but_one.produced, 40);
  EXPECT_FALSE(Sending(store_problem({0, 24}), 0, 8, 1).waits);
  EXPECT_TRUE(Sending(store_problem({0, 24}), 0, 12, 1).waits);
}

TEST(StoreSteps, of_one_group_by_hand) {
  // 4 tiles for the peer end at 10 us and are sent until 30; their signals arrive at 32.
  StoreProblem problem = store_problem({0, 8});
  problem.sent = 5;
  problem.signal = 2;
  problem.receive = 1;
  problem.add_up = 3;
  for (const bool waits : {false, true}) {
    problem.waits = waits;
    const StoreStep step = advance(problem, first_state(problem), StoreCuts{0, 0, 1});
    EXPECT_DOUBLE_EQ(step.computed, 10);
    EXPECT_DOUBLE_EQ(step.start, 10);
    EXPECT_DOUBLE_EQ(step.state.link, 30);
    EXPECT_DOUBLE_EQ(step.others_arrived, 32);
    EXPECT_DOUBLE_EQ(step.others_stalled, 0);
    // The own tiles would end at 20 us; those that wait begin to be added up at 33.
    EXPECT_DOUBLE_EQ(step.own_stalled, waits ? 13 : 0);
    EXPECT_DOUBLE_EQ(step.state.delay, waits ? 13 + 3 : 3);
    EXPECT_DOUBLE_EQ(end_of(problem, step), 36);
  }
  EXPECT_DOUBLE_EQ(problem.all_sent(), 4 * 5);
  EXPECT_DOUBLE_EQ(problem.least_time(), 10 + 20 + 2);
}

}  // namespace
}  // namespace overlaptune
