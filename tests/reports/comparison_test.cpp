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

TEST(Comparison, dates_are_those_of_the_newest_winners_that_are_in_both) {
  Problem other = rows::kProblem;
  other.m = 8192;
  Problem only_here = rows::kProblem;
  only_here.m = 1024;
  const auto at = [](const char* time, const Problem& problem) {
    StoredWinner row = rows::winner(100, 1, problem);
    row.validated_at = time;
    return row;
  };
  const Comparison comparison =
      compare(rows::snapshot({at("2026-11-26T08:00:00.000Z", rows::kProblem),
                              at("2026-11-25T08:00:00.000Z", other),
                              at("2026-11-27T08:00:00.000Z", only_here)}),
              rows::snapshot({at("2026-11-23T08:00:00.000Z", rows::kProblem),
                              at("2026-11-24T08:00:00.000Z", other)}));
  EXPECT_EQ(comparison.newest_here, "2026-11-26T08:00:00.000Z");
  EXPECT_EQ(comparison.newest_there, "2026-11-24T08:00:00.000Z");
  const auto nothing = json_of(compare(rows::snapshot({}), rows::snapshot({rows::winner(1)})));
  EXPECT_TRUE(nothing.at("newest_here").is_null());
}

TEST(Comparison, another_driver_and_another_program_are_fields_that_differ) {
  Snapshot here = rows::snapshot({rows::winner(100)}, {}, rows::platform("580.2"));
  Snapshot there = rows::snapshot({rows::winner(110)}, {}, rows::platform("570.1"));
  here.platforms.front().last_run = TuningRun{.provenance = {.program_version = "0.2.0"}};
  EXPECT_THAT(compare(here, there).differing,
              testing::ElementsAre(PlatformDifference{"driver_version", "580.2", "570.1"}));
  there.platforms.front().last_run = TuningRun{.provenance = {.program_version = "0.1.0"}};
  EXPECT_THAT(compare(here, there).differing,
              testing::ElementsAre(PlatformDifference{"driver_version", "580.2", "570.1"},
                                   PlatformDifference{"overlaptune", "0.2.0", "0.1.0"}));
}

TEST(Comparison, one_platform_on_each_side_is_compared_by_problem) {
  Platform other = rows::platform();
  other.name = "newer";
  const Comparison comparison =
      compare(rows::snapshot({rows::winner(100)}), rows::snapshot({rows::winner(110)}, {}, other));
  ASSERT_EQ(comparison.winners.size(), 1U);
  EXPECT_EQ(comparison.winners.front().change, Change::faster);
  EXPECT_THAT(
      comparison.platform_differences,
      testing::ElementsAre("sim:eight here, sim:newer there: name: eight here, newer there"));
  // Every line says whose figures it has.
  const auto row = json_of(comparison).at("winners").at(0);
  EXPECT_EQ(row.at("platform_here"), "sim:eight");
  EXPECT_EQ(row.at("platform_there"), "sim:newer");
  const auto cells = comparison_table(comparison).rows.at(0);
  EXPECT_EQ(cells.at(0), Cell(std::string("sim:eight")));
  EXPECT_EQ(cells.at(1), Cell(std::string("sim:newer")));
}

TEST(Comparison, platforms_are_kept_apart_where_their_pairs_are_not_clear) {
  Platform other = rows::platform();
  other.name = "newer";
  Snapshot there = rows::snapshot({rows::winner(110)}, {}, other);
  other.name = "newest";
  there.platforms.push_back({.stored = {.id = 2, .platform = other}});
  EXPECT_EQ(compare(rows::snapshot({rows::winner(100)}), there).winners.size(), 2U);

  Problem of_four = rows::kProblem;
  of_four.ranks = 4;
  other.name = "four";
  const Comparison nothing_in_common =
      compare(rows::snapshot({rows::winner(100)}),
              rows::snapshot({rows::winner(110, 1, of_four)}, {}, other));
  EXPECT_TRUE(nothing_in_common.platform_differences.empty());
}

TEST(Comparison, what_changed_beyond_the_noise_comes_first) {
  const auto snapshot = [](const std::vector<double>& times) {
    std::vector<StoredWinner> winners;
    for (std::size_t i = 0; i < times.size(); ++i) {
      Problem problem = rows::kProblem;
      problem.m = 1024 * static_cast<std::int64_t>(i + 1);
      winners.push_back(rows::winner(times[i], 1, problem));
    }
    return rows::snapshot(winners);
  };
  const Comparison comparison =
      compare(snapshot({100, 103, 100, 120, 50}), snapshot({100.5, 100, 130, 100}));
  std::vector<std::int64_t> order;
  for (const ComparedWinner& row : comparison.winners) {
    order.push_back((row.here ? row.here : row.there)->candidate.problem.m / 1024);
  }
  // Changes in percent: -0.5 (within the noise), 3, -23, 20, and one that is here only.
  EXPECT_EQ(order, (std::vector<std::int64_t>{3, 4, 2, 1, 5}));
}

TEST(Comparison, without_two_times_there_is_no_difference) {
  // 110 us against 100 us, half spreads of 3 and 4 us.
  const auto compared = json_of(compare(rows::snapshot({rows::winner(110, 3)}),
                                        rows::snapshot({rows::winner(100, 4)})))
                            .at("winners")
                            .at(0);
  EXPECT_EQ(compared.at("difference_us"), 10.0);
  EXPECT_EQ(compared.at("noise_us"), 5.0);
  EXPECT_NEAR(compared.at("relative_change").get<double>(), 0.1, 1e-12);

  StoredWinner unmeasured = rows::winner(110);
  unmeasured.winner.candidate.measured.reset();
  for (const Snapshot& here : {rows::snapshot({}), rows::snapshot({unmeasured})}) {
    const Comparison comparison = compare(here, rows::snapshot({rows::winner(100)}));
    const auto row = json_of(comparison).at("winners").at(0);
    for (const char* field : {"here_us", "difference_us", "noise_us", "relative_change"}) {
      EXPECT_TRUE(row.at(field).is_null()) << field;
    }
    EXPECT_EQ(row.at("there_us"), 100.0);
    const auto cells = comparison_table(comparison).rows.at(0);
    EXPECT_EQ(cells.at(4), Cell());
    EXPECT_EQ(cells.at(5), Cell(100.0));
    EXPECT_EQ(cells.at(6), Cell());
    EXPECT_EQ(cells.at(7), Cell());
  }
}

TEST(Comparison, equal_fingerprints_win_over_equal_names) {
  Snapshot here = rows::snapshot({rows::winner(100)}, {}, rows::platform("580.2"));
  here.platforms.push_back({.stored = {.id = 2, .platform = rows::platform("570.1")}});
  here.winners.push_back(rows::winner(120, 1, rows::kProblem, 2));
  const Comparison comparison = compare(here, rows::snapshot({rows::winner(110)}));
  ASSERT_EQ(comparison.winners.size(), 2U);
  EXPECT_EQ(comparison.winners[0].change, Change::slower);
  EXPECT_EQ(comparison.winners[1].change, Change::only_here);
}

}  // namespace
}  // namespace overlaptune
