#include "planning/sequences/search/exact.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "planning/sequences/costs.hpp"

namespace overlaptune {
namespace {

/// 2 GPUs of 100 tokens each, on which a token takes a microsecond. Groups of two take far longer.
class Exact : public testing::Test {
 protected:
  Exact() {
    costs_.linear_us = 1;
    costs_.bytes_of_token = 1;
    costs_.degrees = {{1, 0, 0}, {2, 10, 0}};
  }
  /// The least time of these sequences side by side.
  [[nodiscard]] double least(const std::vector<std::int64_t>& lengths) const {
    const Rates rates(costs_, {2, 2, 100});
    const Runs runs(rates, runs_of(lengths));
    Filled best;
    EXPECT_TRUE(branch_and_bound(runs, runs.counts(), 10'000, best));
    return best.time();
  }

 private:
  Coefficients costs_{};
};

/// {60, 40} beside {50, 30} takes 100 us and is found first; {60, 30} beside {50, 40} takes 90.
TEST_F(Exact, a_group_with_room_for_the_shortest_sequence_only_is_open) {
  EXPECT_DOUBLE_EQ(least({60, 50, 40, 30}), 90);
  EXPECT_DOUBLE_EQ(least({70, 40, 30, 20, 10, 10}), 90);
}

TEST_F(Exact, what_one_gpu_does_not_hold_takes_both) {
  EXPECT_DOUBLE_EQ(least({120}), 60 + 1200);
}

TEST_F(Exact, ends_after_so_many_nodes) {
  const Coefficients costs = [] {
    Coefficients made;
    made.linear_us = 1;
    made.bytes_of_token = 1;
    made.degrees = {{1, 0, 0}};
    return made;
  }();
  const Rates rates(costs, {1, 1, 100});
  const Runs runs(rates, runs_of(std::vector<std::int64_t>{30, 20, 10}));
  Filled best;
  EXPECT_FALSE(branch_and_bound(runs, runs.counts(), 2, best));
  EXPECT_TRUE(best.groups.empty());
}

}  // namespace
}  // namespace overlaptune
