#include "strategies/signaled/model_cut_choice.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(CutChoice, takes_all_cuts_where_there_are_few) {
  EXPECT_EQ(spread_cuts(5, 5), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(spread_cuts(1, 64), (Numbers{1}));
}

TEST(CutChoice, spreads_cuts_closely_at_both_ends_and_widely_between) {
  for (const std::int64_t count : Numbers{65, 100, 1000, 50'000, 3'000'000'000}) {
    const Numbers chosen = spread_cuts(count, 64);
    ASSERT_EQ(chosen.size(), 64U);
    EXPECT_GE(chosen.front(), 1);
    EXPECT_EQ(chosen.back(), count);
    EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end(), std::less_equal<>()));
    const auto step = [&](std::size_t i) {
      return static_cast<double>(chosen[i] - chosen[i - 1]) / static_cast<double>(count);
    };
    EXPECT_LT(step(1), 0.016);
    EXPECT_LT(step(63), 0.016);
    EXPECT_LT(step(32), 0.032);
  }
}

TEST(CutChoice, ways_to_the_neighbours_are_cut_into_up_to_four_parts) {
  // From 10 to 20 and from 40 back to 20; as many parts as 2, 4 or 192 cuts allow.
  EXPECT_EQ(cuts_around(Numbers{10, 20, 40}, Numbers{20}, 2), (Numbers{15, 20, 30}));
  EXPECT_EQ(cuts_around(Numbers{10, 20, 40}, Numbers{20}, 4), (Numbers{13, 16, 20, 27, 34}));
  EXPECT_EQ(cuts_around(Numbers{10, 20, 40}, Numbers{20}, 192),
            (Numbers{12, 15, 17, 20, 25, 30, 35}));
  // Before the first cut is the start, which is no cut; there is none after the last one.
  EXPECT_EQ(cuts_around(Numbers{1, 9}, Numbers{1}, 192), (Numbers{1, 3, 5, 7}));
  EXPECT_EQ(cuts_around(Numbers{4, 8}, Numbers{8}, 192), (Numbers{5, 6, 7, 8}));
  // Two ends share the cuts: one of half the number for each side.
  EXPECT_EQ(cuts_around(Numbers{8, 16, 24}, Numbers{8, 24}, 4), (Numbers{4, 8, 12, 20, 24}));
}

TEST(CutChoice, cuts_around_ends_keep_the_ends_and_get_finer) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<std::int64_t>(200 + random() % 1'000'000);
    Numbers tried = spread_cuts(count, 64);
    Numbers ends;
    for (const std::int64_t number : tried) {
      if (random() % 6 == 0 && number != count) ends.push_back(number);
    }
    ends.push_back(count);
    for (int finer = 0; finer < 12; ++finer) {
      const Numbers around = cuts_around(tried, ends, 192);
      ASSERT_TRUE(std::is_sorted(around.begin(), around.end(), std::less_equal<>()));
      ASSERT_TRUE(std::includes(around.begin(), around.end(), ends.begin(), ends.end()));
      ASSERT_GE(around.front(), 1);
      ASSERT_EQ(around.back(), count);
      ASSERT_LE(around.size(), 192 + ends.size());
      tried = around;
    }
    // In the end there is every neighbour.
    for (const std::int64_t end : ends) {
      for (const std::int64_t neighbour : {end - 1, end + 1}) {
        const bool exists = neighbour >= 1 && neighbour <= count;
        ASSERT_EQ(std::binary_search(tried.begin(), tried.end(), neighbour), exists) << end;
      }
    }
  }
}

}  // namespace
}  // namespace overlaptune
