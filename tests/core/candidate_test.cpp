#include "core/config/candidate.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

Winner winner(double time, double sequential, double gemm, double collective) {
  Winner w;
  w.candidate.measured = Summary{us(time), us(time), us(time), 9};
  w.sequential = us(sequential);
  w.gemm_alone = us(gemm);
  w.collective_alone = us(collective);
  return w;
}

TEST(Winner, hides_all_at_the_ideal_and_nothing_at_sequential) {
  EXPECT_DOUBLE_EQ(*hidden_fraction(winner(100, 160, 100, 60)), 1);
  EXPECT_DOUBLE_EQ(*hidden_fraction(winner(160, 160, 100, 60)), 0);
  EXPECT_DOUBLE_EQ(*hidden_fraction(winner(130, 160, 60, 100)), 0.5);
}

TEST(Winner, is_at_the_ideal_and_no_better) {
  EXPECT_EQ(hidden_fraction(winner(80, 160, 100, 60)), 1.0);
}

TEST(Winner, has_no_hidden_fraction_where_there_is_nothing_to_hide) {
  EXPECT_FALSE(hidden_fraction(winner(100, 102, 100, 2)));
}

TEST(Candidate, is_compared_by_the_ratio_of_its_own_run) {
  // The candidate was measured while the clock was low: it is slower than the other, and still the
  // better one.
  Candidate hot;
  hot.measured = Summary{us(120), us(119), us(121), 9};
  hot.speedup = Candidate::Speedup{1.25, 1.2, 1.3};
  Candidate cool;
  cool.measured = Summary{us(110), us(109), us(111), 9};
  cool.speedup = Candidate::Speedup{1.1, 1.0, 1.2};
  EXPECT_LT(paired_time(hot, us(150)), paired_time(cool, us(150)));
  EXPECT_DOUBLE_EQ(paired_time(hot, us(150)).count(), 120);
  cool.speedup.reset();
  EXPECT_DOUBLE_EQ(paired_time(cool, us(150)).count(), 110);
}

}  // namespace
}  // namespace overlaptune
