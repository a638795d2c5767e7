// The simple planner, by hand: a microsecond for each token divided among the GPUs of a group, ten
// for a group, 100 tokens a GPU.

#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/sequences/search/bins.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;

Coefficients linear_costs() {
  Coefficients costs;
  costs.linear_us = 1;
  costs.bytes_of_token = 1;
  costs.degrees = {{1, 0, 10}, {2, 0, 10}};
  return costs;
}

class LeastFinish : public testing::Test {
 protected:
  [[nodiscard]] std::vector<Filled> plan(const std::vector<std::int64_t>& lengths, int gpus,
                                         int micro_batches, bool narrow = true,
                                         const Limits& limits = {}) const {
    const Rates rates(costs_, {gpus, gpus, 100}, limits);
    return least_finish(Runs(rates, runs_of(lengths)), micro_batches, narrow);
  }
  const Coefficients costs_ = linear_costs();
};

std::vector<std::int64_t> tokens_of(const Filled& filled) {
  std::vector<std::int64_t> list;
  for (const OpenGroup& group : filled.groups) list.push_back(group.tokens);
  return list;
}

TEST_F(LeastFinish, a_sequence_goes_where_it_ends_soonest) {
  // 30 beside 60 and 50 in the second micro-batch; then 20 joins 30.
  const auto made = plan({60, 50, 30, 20}, 2, 2);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_THAT(tokens_of(made[0]), ElementsAre(60, 50));
  EXPECT_THAT(tokens_of(made[1]), ElementsAre(30, 20));
  EXPECT_DOUBLE_EQ(made[1].time(), 40);
  EXPECT_THAT(tokens_of(plan({60, 50, 30, 20}, 2, 1).at(0)), ElementsAre(80, 80));
}

/// 50 and 40 take less time than 70, but more memory: 30 goes beside 70, and 10 beside 50 and 40.
TEST_F(LeastFinish, a_group_without_room_takes_a_shorter_sequence_later) {
  Coefficients squares = linear_costs();
  squares.linear_us = 0;
  squares.quadratic_us = 1;
  const Rates rates(squares, {2, 2, 100});
  const auto made =
      least_finish(Runs(rates, runs_of(std::vector<std::int64_t>{70, 50, 40, 30, 10})), 1, true);
  ASSERT_EQ(made.size(), 1U);
  EXPECT_THAT(tokens_of(made[0]), ElementsAre(100, 100));
  EXPECT_DOUBLE_EQ(made[0].time(), 10 + 70 * 70 + 30 * 30);
}

TEST_F(LeastFinish, groups_hold_what_memory_and_limits_allow) {
  EXPECT_TRUE(plan({60, 50}, 1, 1).empty());
  EXPECT_EQ(plan({60, 40}, 1, 1).size(), 1U);
  EXPECT_EQ(plan({60, 50}, 1, 2).size(), 2U);
  EXPECT_TRUE(plan({10, 10}, 1, 1, true, {.sequences_of_group = 1}).empty());
  EXPECT_EQ(plan({10, 10}, 1, 1, true, {.sequences_of_group = 2}).size(), 1U);
  EXPECT_TRUE(plan({10, 10, 10}, 1, 1, true, {.sequences_of_group = 2}).empty());
  EXPECT_EQ(plan({10, 10, 10}, 1, 2, true, {.sequences_of_group = 2}).size(), 2U);
}

TEST_F(LeastFinish, a_group_is_wide_only_where_it_may_be) {
  const auto wide = plan({80}, 2, 1, false);
  EXPECT_EQ(wide.at(0).groups.at(0).level, 1);
  EXPECT_DOUBLE_EQ(wide.at(0).time(), 10 + 40);
  EXPECT_EQ(wide.at(0).gpus_left, 0);
  const auto narrow = plan({80}, 2, 1);
  EXPECT_EQ(narrow.at(0).groups.at(0).level, 0);
  EXPECT_DOUBLE_EQ(narrow.at(0).time(), 10 + 80);
  EXPECT_EQ(narrow.at(0).gpus_left, 1);
  EXPECT_EQ(plan({150}, 2, 1).at(0).groups.at(0).level, 1);  // the least that holds it
}

}  // namespace
}  // namespace overlaptune
