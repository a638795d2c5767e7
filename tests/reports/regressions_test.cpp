#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/comparison.hpp"
#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;

/// Winners of problems of 1k, 2k, … rows; none where the time is 0.
Snapshot snapshot(const std::vector<double>& times) {
  std::vector<StoredWinner> winners;
  for (std::size_t i = 0; i < times.size(); ++i) {
    Problem problem = rows::kProblem;
    problem.m = 1024 * static_cast<std::int64_t>(i + 1);
    if (times[i] > 0) winners.push_back(rows::winner(times[i], 1, problem));
  }
  return rows::snapshot(winners);
}

std::vector<std::int64_t> problems(const std::vector<const ComparedWinner*>& rows) {
  std::vector<std::int64_t> found;
  for (const ComparedWinner* row : rows) {
    found.push_back((row->here ? row->here : row->there)->candidate.problem.m / 1024);
  }
  return found;
}

TEST(Regressions, are_slower_by_more_than_the_fraction_and_the_noise) {
  // Changes in percent: 0.5 (within the noise of 1.4 us), 3, -23, 20.
  const Comparison comparison =
      compare(snapshot({100.5, 103, 100, 120}), snapshot({100, 100, 130, 100}));
  EXPECT_THAT(problems(slower_by(comparison, 0)), ElementsAre(4, 2));
  EXPECT_THAT(problems(slower_by(comparison, 0.02)), ElementsAre(4, 2));
  EXPECT_THAT(problems(slower_by(comparison, 0.05)), ElementsAre(4));
  EXPECT_THAT(problems(slower_by(comparison, 0.3)), ElementsAre());
  EXPECT_NEAR(*relative_change(*slower_by(comparison, 0.05).front()), 0.2, 1e-12);
}

TEST(Regressions, what_is_missing_here_is_not_compared) {
  // The third is there only, the fourth here only.
  const Comparison comparison = compare(snapshot({100, 90, 0, 80}), snapshot({100, 100, 100}));
  EXPECT_THAT(problems(missing_here(comparison)), ElementsAre(3));
  EXPECT_THAT(problems(compared(comparison)), testing::UnorderedElementsAre(1, 2));
}

TEST(Regressions, a_winner_without_a_time_is_missing) {
  Snapshot here = snapshot({100, 100});
  here.winners.back().winner.candidate.measured.reset();
  const Comparison comparison = compare(here, snapshot({100, 100}));
  EXPECT_THAT(problems(missing_here(comparison)), ElementsAre(2));
  EXPECT_THAT(problems(compared(comparison)), ElementsAre(1));
}

TEST(Regressions, a_whole_platform_may_be_missing) {
  Snapshot there = snapshot({100, 100});
  Platform other = rows::platform();
  other.name = "newer";
  there.platforms.push_back({.stored = {.id = 2, .platform = other}});
  there.winners.push_back(rows::winner(100, 1, rows::kProblem, 2));
  const Comparison comparison = compare(snapshot({100, 100}), there);
  ASSERT_EQ(missing_here(comparison).size(), 1U);
  EXPECT_EQ(missing_here(comparison).front()->platform_there, "sim:newer");
}

}  // namespace
}  // namespace overlaptune
