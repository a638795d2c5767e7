#include <cmath>

#include <gtest/gtest.h>

#include "model/search.hpp"

namespace overlaptune {
namespace {

Scored with_ctas(int comm_ctas, double time) {
  return {Sequential{.comm_ctas = comm_ctas}, us(time)};
}

TEST(BestConfigs, keeps_the_fastest_in_ascending_order) {
  BestConfigs best(2);
  EXPECT_TRUE(std::isinf(best.limit()));
  EXPECT_TRUE(std::isinf(best.first()));
  best.offer(with_ctas(1, 30));
  EXPECT_TRUE(std::isinf(best.limit()));
  best.offer(with_ctas(2, 10));
  EXPECT_EQ(best.limit(), 30);
  EXPECT_EQ(best.first(), 10);
  best.offer(with_ctas(3, 20));
  best.offer(with_ctas(4, 20));  // no faster than the last
  const auto list = std::move(best).take();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(comm_ctas(list[0].config), 2);
  EXPECT_EQ(comm_ctas(list[1].config), 3);
}

TEST(BestConfigs, a_config_that_was_solved_again_takes_its_own_place) {
  BestConfigs best(3);
  best.offer(with_ctas(1, 10));
  best.offer(with_ctas(2, 20));
  best.replace([](const Config& config) { return comm_ctas(config) == 2; }, with_ctas(2, 5));
  best.replace([](const Config& config) { return comm_ctas(config) == 9; }, with_ctas(9, 7));
  const auto list = std::move(best).take();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(comm_ctas(list[0].config), 2);
  EXPECT_EQ(comm_ctas(list[1].config), 9);
  EXPECT_EQ(comm_ctas(list[2].config), 1);
}

TEST(BestConfigs, asks_whether_to_stop) {
  bool stop = false;
  const BestConfigs best(1, [&] { return stop; });
  EXPECT_FALSE(best.stopped());
  stop = true;
  EXPECT_TRUE(best.stopped());
  EXPECT_FALSE(BestConfigs(1).stopped());
}

}  // namespace
}  // namespace overlaptune
