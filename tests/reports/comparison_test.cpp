#include "reports/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

Change change(const StoredWinner& here, const StoredWinner& there) {
  const Comparison comparison = compare(rows::snapshot({here}), rows::snapshot({there}));
  EXPECT_EQ(comparison.winners.size(), 1U);
  return comparison.winners.front().change;
}

TEST(Comparison, a_difference_must_exceed_the_spread) {
  // Spreads of 3 and 4 combine to 5.
  EXPECT_EQ(change(rows::winner(100, 3), rows::winner(105.5, 4)), Change::faster);
  EXPECT_EQ(change(rows::winner(105.5, 3), rows::winner(100, 4)), Change::slower);
  EXPECT_EQ(change(rows::winner(100, 3), rows::winner(104.5, 4)), Change::within_noise);
  EXPECT_EQ(change(rows::winner(100, 0), rows::winner(100, 0)), Change::within_noise);
}

TEST(Comparison, winners_meet_by_problem_and_launch) {
  Problem other = rows::kProblem;
  other.m = 8192;
  StoredWinner eager = rows::winner(90);
  eager.winner.candidate.launch = Launch::eager;
  const Comparison comparison =
      compare(rows::snapshot({rows::winner(100), rows::winner(50, 1, other)}),
              rows::snapshot({rows::winner(110), eager}));
  int only_here = 0;
  int only_there = 0;
  for (const ComparedWinner& row : comparison.winners) {
    only_here += row.change == Change::only_here ? 1 : 0;
    only_there += row.change == Change::only_there ? 1 : 0;
  }
  EXPECT_EQ(comparison.winners.size(), 3U);
  EXPECT_EQ(only_here, 1);
  EXPECT_EQ(only_there, 1);
  const auto json = OrderedJson::parse(json_of(comparison).dump());
  EXPECT_EQ(json.at("faster"), 1);
  EXPECT_NEAR(json.at("time_ratio_geomean").get<double>(), 100.0 / 110.0, 1e-12);
}

TEST(Comparison, a_new_driver_is_the_same_platform_and_said) {
  const Comparison comparison =
      compare(rows::snapshot({rows::winner(100)}, {}, rows::platform("580.2")),
              rows::snapshot({rows::winner(110)}, {}, rows::platform("570.1")));
  ASSERT_EQ(comparison.winners.size(), 1U);
  EXPECT_EQ(comparison.winners.front().change, Change::faster);
  EXPECT_THAT(comparison.platform_differences,
              testing::ElementsAre(testing::HasSubstr("driver_version: 580.2 here, 570.1 there")));
}

TEST(Comparison, other_platforms_are_kept_apart) {
  Platform other = rows::platform();
  other.name = "four";
  const Comparison comparison =
      compare(rows::snapshot({rows::winner(100)}), rows::snapshot({rows::winner(110)}, {}, other));
  ASSERT_EQ(comparison.winners.size(), 2U);
  EXPECT_TRUE(comparison.platform_differences.empty());
}

TEST(Comparison, equal_fingerprints_win_over_equal_names) {
  Snapshot here = rows::snapshot({rows::winner(100)}, {}, rows::platform("580.2"));
  here.platforms.push_back({.stored = {.id = 2, .platform = rows::platform("570.1")}});
  here.winners.push_back(rows::winner(120, 1, rows::kProblem, 2));
  const Comparison comparison = compare(here, rows::snapshot({rows::winner(110)}));
  ASSERT_EQ(comparison.winners.size(), 2U);
  EXPECT_EQ(comparison.winners[0].change, Change::only_here);
  EXPECT_EQ(comparison.winners[1].change, Change::slower);
}

}  // namespace
}  // namespace overlaptune
