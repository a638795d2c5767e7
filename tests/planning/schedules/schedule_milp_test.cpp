// Schedules beside integer programming. OVERLAPTUNE_MILP_GRAPHS asks for more graphs.

#include "tests/planning/schedules/schedule_milp.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "planning/schedules/step_plan.hpp"
#include "tests/planning/schedules/small_graphs.hpp"

namespace overlaptune {
namespace {

#ifdef OVERLAPTUNE_HAS_CBC

TEST(ScheduleMilp, agrees_with_every_schedule_of_small_graphs) {
  std::mt19937 random(5);
  for (int i = 0; i < 8; ++i) {
    const TaskGraph graph =
        random_graph(random, {.tasks = 4 + i % 4, .longest = 4, .contention = false});
    const auto milp = schedule_by_milp(graph, 4 * 7, 20);
    ASSERT_TRUE(milp && milp->optimal) << i;
    EXPECT_NEAR(milp->time_us, Everything(graph).least(), 1e-6) << i;
  }
}

TEST(ScheduleMilp, is_hardly_better_than_the_planner) {
  const char* wanted = std::getenv("OVERLAPTUNE_MILP_GRAPHS");
  const int graphs = wanted == nullptr ? 6 : std::atoi(wanted);
  std::mt19937 random(9);
  double sum = 0;
  double list_sum = 0;
  double worst = 0;
  int optimal = 0;
  int compared = 0;
  for (int i = 0; i < graphs; ++i) {
    const int tasks = graphs > 6 ? 10 + static_cast<int>(random() % 15) : 8 + i;
    const TaskGraph graph = random_graph(random, {.tasks = tasks,
                                                  .longest = 3 + i % 5,
                                                  .contention = false,
                                                  .chains = i % 2 == 0 ? 0 : 2 + i % 3});
    const StepPlan plan = plan_graph(graph);
    expect_sound(plan.graph, plan.schedule);
    // Times are whole: CBC looks for a schedule that is shorter by one at least.
    const auto milp = schedule_by_milp(graph, static_cast<int>(plan.scheduled_us - 0.5), 20);
    if (!milp) continue;
    const double over = plan.scheduled_us / std::min(milp->time_us, plan.scheduled_us) - 1;
    ++compared;
    optimal += milp->optimal ? 1 : 0;
    sum += over;
    list_sum += plan.list_us / std::min(milp->time_us, plan.scheduled_us) - 1;
    worst = std::max(worst, over);
  }
  ASSERT_GT(compared, graphs / 2);
  std::cout << graphs << " graphs, " << compared << " with a reference, " << optimal
            << " of them proven: the planner is over by " << 100 * sum / compared
            << " % in the mean, " << 100 * worst << " % at most; list scheduling without fusions "
            << 100 * list_sum / compared << " %\n";
  EXPECT_LE(sum / compared, 0.01);
}

#else

TEST(ScheduleMilp, needs_cbc) {
  GTEST_SKIP() << "CBC's C interface was not found (Debian: coinor-libcbc-dev)";
}

#endif

}  // namespace
}  // namespace overlaptune
