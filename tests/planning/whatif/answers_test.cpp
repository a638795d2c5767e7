// The meaning of times from data sheets, checked by hand.

#include "planning/whatif/answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune::cluster {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Links of 100 GB/s, a microsecond a step, and a launch of 4.
const Cluster kCluster{.name = "c",
                       .launch_us = 4,
                       .levels = {{.name = "links",
                                   .kind = LevelKind::switched,
                                   .sizes = {8},
                                   .gb_per_s = 100,
                                   .latency_us = 1}}};

WhatIfAnswer answer(Operation operation, std::int64_t bytes, int gpus) {
  return answers(kCluster, {}, operation, {bytes}, gpus).front();
}

/// Three steps of 4 GPUs, and three quarters of 1000 or 10^9 bytes over a link.
TEST(WhatIfAnswers, a_small_buffer_has_a_time_alone_and_one_in_a_loop) {
  const WhatIfAnswer small = answer(Operation::all_gather, 1000, 4);
  EXPECT_NEAR(small.estimate.us, 4 + 3 + 0.0075, 1e-9);
  EXPECT_NEAR(small.in_a_loop_us, 3 + 0.0075, 1e-9);
  EXPECT_THAT(small.notes, ElementsAre(AllOf(
                               HasSubstr("7.0 us are those of a call by itself"),
                               HasSubstr("launch of 4.0 us, which leaves 3.0 us a call at best"))));
  const WhatIfAnswer large = answer(Operation::all_gather, 1'000'000'000, 4);
  EXPECT_NEAR(large.in_a_loop_us, 3 + 7500, 1e-6);
  EXPECT_THAT(large.notes, IsEmpty());
}

/// Three steps and a launch take 7 us; a thread that needs 2 us for each of 4 GPUs takes 8.
TEST(WhatIfAnswers, a_thread_that_submits_to_all_gpus_bounds_a_loop) {
  Cluster cluster = kCluster;
  cluster.submit_us = 2;
  const auto in_loop = [&](std::int64_t bytes, int gpus) {
    return answers(cluster, {}, Operation::all_gather, {bytes}, gpus).front();
  };
  EXPECT_NEAR(in_loop(1000, 4).in_a_loop_us, 3.0075, 1e-9);
  EXPECT_NEAR(in_loop(1000, 4).in_a_hosts_loop_us, 8, 1e-9);
  EXPECT_THAT(in_loop(1000, 4).notes, ElementsAre(HasSubstr("and 8.0 us where one thread")));
  EXPECT_NEAR(in_loop(1'000'000'000, 4).in_a_hosts_loop_us, 3 + 7500, 1e-6);
  EXPECT_EQ(answer(Operation::all_gather, 1000, 4).in_a_hosts_loop_us, 0);  // not known
}

/// 1000 MB over links of 100 GB/s: half of them leave a GPU, at half of the rate in a pair.
TEST(WhatIfAnswers, rings_of_two_have_their_own_rate_where_it_is_known) {
  Cluster cluster = kCluster;
  cluster.levels.front().pairs["all_gather"] = {{1e6, 1}, {1e8, 0.5}};
  const auto us = [&](Operation operation, int gpus) {
    return answers(cluster, {}, operation, {1'000'000'000}, gpus).front().estimate.us;
  };
  EXPECT_NEAR(us(Operation::all_gather, 2), 4 + 1 + 5000 / 0.5, 1e-6);
  EXPECT_NEAR(us(Operation::all_gather, 4), 4 + 3 + 7500, 1e-6);
  EXPECT_NEAR(us(Operation::reduce_scatter, 2), 4 + 1 + 5000, 1e-6);
  // Half way between the points by the logarithm of the bytes: 10^7 leave a GPU.
  EXPECT_NEAR(answers(cluster, {}, Operation::all_gather, {20'000'000}, 2).front().estimate.us,
              4 + 1 + 100 / 0.75, 1e-6);
}

TEST(WhatIfAnswers, rings_of_two_are_said_to_be_slower) {
  const std::int64_t large = 1'000'000'000;
  EXPECT_THAT(answer(Operation::all_gather, large, 2).notes, ElementsAre(HasSubstr("2 GPUs")));
  EXPECT_THAT(answer(Operation::reduce_scatter, large, 2).notes, ElementsAre(HasSubstr("2 GPUs")));
  EXPECT_THAT(answer(Operation::send, large, 2).notes, IsEmpty());
  EXPECT_THAT(answer(Operation::all_gather, large, 8).notes, IsEmpty());
}

TEST(WhatIfAnswers, a_calibrated_time_is_of_what_was_measured) {
  const MeasuredTimes measured{
      {{Operation::all_gather, 2, 1000, 6}, {Operation::all_gather, 2, 2000, 7}}, "f"};
  const WhatIfAnswer given = answers(kCluster, measured, Operation::all_gather, {1000}, 2).front();
  EXPECT_THAT(given.notes, IsEmpty());
  EXPECT_EQ(given.in_a_loop_us, 0);
}

}  // namespace
}  // namespace overlaptune::cluster
