// Groups that are made before their micro-batches, by hand: a microsecond for each token, ten for a
// group, 100 tokens a GPU.

#include "planning/sequences/search/bins.hpp"

#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class Bins : public testing::Test {
 protected:
  static Coefficients costs() {
    Coefficients costs;
    costs.linear_us = 1;
    costs.bytes_of_token = 1;
    costs.degrees = {{1, 0, 10}, {2, 0, 10}, {4, 0, 10}};
    return costs;
  }
  [[nodiscard]] Rates rates(int gpus) const { return {costs_, {gpus, gpus, 100}}; }

  const Coefficients costs_ = costs();
};

Runs runs(const Rates& rates, const std::vector<std::int64_t>& lengths) {
  return {rates, runs_of(lengths)};
}

std::vector<std::int64_t> tokens(const Filled& filled) {
  std::vector<std::int64_t> list;
  for (const OpenGroup& group : filled.groups) list.push_back(group.tokens);
  return list;
}

std::vector<int> levels(const Filled& filled) {
  std::vector<int> list;
  for (const OpenGroup& group : filled.groups) list.push_back(group.level);
  return list;
}

TEST_F(Bins, a_packed_sequence_goes_where_the_least_room_is_left) {
  const Rates two = rates(2);
  const Filled filled = packed_groups(runs(two, {60, 50, 40, 30, 20}), 0, false);
  // 40 fills up the group of 60; 30 and 20 that of 50.
  EXPECT_THAT(tokens(filled), ElementsAre(100, 100));
  EXPECT_EQ(filled.groups[0].sequences, 2);
  EXPECT_EQ(filled.groups[1].sequences, 3);
  EXPECT_DOUBLE_EQ(filled.groups[0].time, 110);
}

TEST_F(Bins, wider_groups_are_shared_where_that_is_asked_for) {
  const Rates two = rates(2);
  const Runs list = runs(two, {150, 40});
  EXPECT_THAT(tokens(packed_groups(list, 0, true)), ElementsAre(190));
  EXPECT_THAT(tokens(packed_groups(list, 0, false)), ElementsAre(150, 40));
  EXPECT_THAT(levels(packed_groups(list, 0, false)), ElementsAre(1, 0));
}

TEST_F(Bins, a_spread_sequence_goes_where_it_ends_soonest) {
  const Rates four = rates(4);
  const Filled filled = spread_groups(runs(four, {80, 70, 60, 50, 30, 20}), 0, 1);
  // 30 joins 50, and 20 joins 60.
  EXPECT_THAT(tokens(filled), UnorderedElementsAre(80, 70, 80, 80));
}

/// 50 and 40 take less time than 70, but more memory: 30 goes beside 70, and 10 beside 50 and 40.
TEST_F(Bins, a_group_without_room_takes_a_shorter_sequence_later) {
  Coefficients squares = costs();
  squares.linear_us = 0;
  squares.quadratic_us = 1;
  const Rates two(squares, {2, 2, 100});
  const Filled filled = spread_groups(runs(two, {70, 50, 40, 30, 10}), 0, 1);
  ASSERT_EQ(filled.groups.size(), 2U);
  EXPECT_THAT(tokens(filled), ElementsAre(100, 100));
  EXPECT_DOUBLE_EQ(filled.groups[0].time, 10 + 70 * 70 + 30 * 30);
  EXPECT_DOUBLE_EQ(filled.groups[1].time, 10 + 50 * 50 + 40 * 40 + 10 * 10);
  // 35 has room in neither, and 30 and 10 do.
  const auto made = filled_to_memory(runs(two, {70, 50, 40, 35, 30, 10}), 0);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_THAT(tokens(made[0]), ElementsAre(100, 100));
  EXPECT_THAT(tokens(made[1]), ElementsAre(35));
}

TEST_F(Bins, gpus_are_shared_out_by_the_work_of_each_level) {
  const Rates four = rates(4);
  // Half of the work needs two GPUs, and fills the memory of one such group.
  const Filled half = spread_groups(runs(four, {200, 50, 50, 50, 50}), 0, 1);
  EXPECT_THAT(levels(half), UnorderedElementsAre(1, 0, 0));
  EXPECT_THAT(tokens(half), UnorderedElementsAre(200, 100, 100));
  // Three quarters of it: three pairs of eight GPUs.
  const Rates eight = rates(8);
  const Filled most = spread_groups(runs(eight, {150, 150, 150, 75, 75}), 0, 1);
  EXPECT_THAT(levels(most), UnorderedElementsAre(1, 1, 1, 0, 0));
}

TEST_F(Bins, memory_may_need_more_groups_than_the_work) {
  // By the work of 220 of 620 tokens one pair of GPUs would do. It holds 200.
  const Rates eight = rates(8);
  const Filled filled = spread_groups(runs(eight, {110, 110, 100, 100, 100, 100}), 0, 1);
  EXPECT_THAT(levels(filled), UnorderedElementsAre(1, 1, 0, 0, 0, 0));
  // Too little memory for all at once.
  EXPECT_TRUE(spread_groups(runs(rates(2), {100, 100, 50}), 0, 1).groups.empty());
}

TEST_F(Bins, groups_with_about_as_much_work_run_side_by_side) {
  const Rates two = rates(2);
  const Runs list = runs(two, {40, 35, 20, 10});
  const Filled groups{.groups = {{.level = 0, .time = 10, .tokens = 10, .sequences = 1},
                                 {.level = 0, .time = 40, .tokens = 40, .sequences = 1},
                                 {.level = 0},  // has no sequence
                                 {.level = 1, .time = 35, .tokens = 35, .sequences = 1},
                                 {.level = 0, .time = 20, .tokens = 20, .sequences = 1}},
                      .parts = {{0, 3, 1}, {1, 0, 1}, {3, 1, 1}, {4, 2, 1}}};
  const std::vector<Filled> made = side_by_side(list, groups);
  ASSERT_EQ(made.size(), 3U);
  EXPECT_THAT(tokens(made[0]), ElementsAre(40, 20));
  EXPECT_THAT(tokens(made[1]), ElementsAre(35));
  EXPECT_THAT(tokens(made[2]), ElementsAre(10));
  EXPECT_EQ(made[0].gpus_left, 0);
  EXPECT_EQ(made[1].gpus_left, 0);
  EXPECT_EQ(made[2].gpus_left, 1);
  EXPECT_THAT(made[0].taken(4), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(made[1].taken(4), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(made[2].taken(4), ElementsAre(0, 0, 0, 1));
}

TEST_F(Bins, micro_batches_are_filled_until_memory_holds_no_more) {
  const Rates two = rates(2);
  const std::vector<Filled> made = filled_to_memory(runs(two, {60, 60, 40, 40, 40}), 0);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_THAT(tokens(made[0]), ElementsAre(100, 100));
  EXPECT_THAT(tokens(made[1]), ElementsAre(40));
}

}  // namespace
}  // namespace overlaptune
