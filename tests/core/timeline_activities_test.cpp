#include "core/timeline_activities.hpp"

#include <gtest/gtest.h>

#include "core/busy.hpp"

namespace overlaptune {
namespace {

GroupTimes group(int index, double start, double end, double exposed) {
  return {.group = index,
          .ready = us(start),
          .start = us(start),
          .end = us(end),
          .exposed = us(exposed)};
}

TEST(TimelineActivities, a_gemm_and_its_groups) {
  // The GEMM ends at 100; the second group is sent until 130.
  const auto activities =
      activities_of({.gemm_end = us(100), .groups = {group(0, 40, 80, 0), group(1, 90, 130, 30)}},
                    Op::gemm_reduce_scatter);
  const std::vector<Activity> expected{
      {0, 1, ActivityKind::collective, "reduce_scatter of group 0", us(40), us(80)},
      {0, 1, ActivityKind::collective, "reduce_scatter of group 1", us(90), us(130)},
      {0, 0, ActivityKind::gemm, "gemm", us(0), us(100)}};
  EXPECT_EQ(activities, expected);
  EXPECT_EQ(busy(activities).mean, (BusyTimes{.gemm = us(100),
                                              .collective = us(80),
                                              .both = us(50),
                                              .exposed = us(30),
                                              .total = us(130)}));
}

TEST(TimelineActivities, pauses_of_the_gemm_keep_what_is_exposed) {
  // Three chunks are gathered; the GEMM waits for each, and computes 20 of the 30 in between.
  const BusyTimes times =
      busy(activities_of(
               {.gemm_end = us(120),
                .groups = {group(0, 5, 35, 30), group(1, 35, 65, 10), group(2, 65, 95, 10)}},
               Op::all_gather_gemm))
          .mean;
  EXPECT_EQ(times.collective, us(90));
  EXPECT_EQ(times.exposed, us(50));
  EXPECT_EQ(times.both, us(40));
  EXPECT_EQ(times.gemm, us(20 + 20 + 25));
  EXPECT_EQ(times.total, us(115));
}

TEST(TimelineActivities, a_gemm_alone) {
  EXPECT_EQ(activities_of({.gemm_end = us(10)}, Op::all_gather_gemm).size(), 1U);
  EXPECT_TRUE(activities_of({}, Op::gemm_all_reduce).empty());
}

}  // namespace
}  // namespace overlaptune
