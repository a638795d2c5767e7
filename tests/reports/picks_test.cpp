#include "reports/quality/picks.hpp"

#include <gtest/gtest.h>

#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

using rows::candidate;

Rows all(const std::vector<StoredCandidate>& candidates) {
  Rows rows;
  for (const StoredCandidate& each : candidates) rows.push_back(&each);
  return rows;
}

StoredCandidate baseline(std::optional<double> measured) {
  return candidate({.strategy = strategy_of<Sequential>(),
                    .comm_ctas = 0,
                    .measured = measured,
                    .origin = Origin::baseline});
}

TEST(Picks, only_what_is_valid_and_has_a_time_counts) {
  EXPECT_TRUE(counts(candidate({.measured = 5}).candidate));
  EXPECT_FALSE(counts(candidate({}).candidate));
  EXPECT_FALSE(counts(candidate({.measured = 0}).candidate));
  StoredCandidate wrong = candidate({.measured = 5});
  wrong.candidate.verdict = Verdict::wrong;
  EXPECT_FALSE(counts(wrong.candidate));
}

TEST(Picks, the_time_of_sequential_is_that_of_the_baseline) {
  const std::vector<StoredCandidate> list{candidate({.measured = 70}), baseline(100)};
  EXPECT_EQ(sequential_of(all(list)), us(100));
  const std::vector<StoredCandidate> failed{candidate({.measured = 70}), baseline(std::nullopt)};
  EXPECT_EQ(sequential_of(all(failed)), us(1));
}

TEST(Picks, the_fastest_of_the_baseline_and_of_the_first_that_ran) {
  const std::vector<StoredCandidate> list{
      baseline(100), candidate({.comm_ctas = 1, .measured = 90, .rank = 1}),
      candidate({.comm_ctas = 2, .measured = 95, .rank = 0}),
      candidate({.comm_ctas = 3, .measured = 80, .rank = 2}), candidate({.measured = 10})};
  EXPECT_EQ(proposals(all(list)).size(), 3U);
  EXPECT_EQ(proposals(all(list)).front(), &list[2]);
  EXPECT_EQ(fastest_listed(all(list), 1), &list[2]);
  EXPECT_EQ(fastest_listed(all(list), 2), &list[1]);
  EXPECT_EQ(fastest_listed(all(list), 9), &list[3]);
  EXPECT_EQ(fastest_listed(all(list), 0), &list[0]);
  EXPECT_EQ(fastest_listed({}, 5), nullptr);
}

}  // namespace
}  // namespace overlaptune
