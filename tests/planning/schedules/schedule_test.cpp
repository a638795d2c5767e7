// Schedules of small graphs, by hand and beside every other schedule.

#include "planning/schedules/schedule.hpp"

#include <iostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/schedules/schedule_search.hpp"
#include "planning/schedules/step_plan.hpp"
#include "tests/planning/schedules/small_graphs.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

Task compute(const char* name, double us, std::vector<int> after = {}) {
  return {.name = name, .kind = name, .us = us, .after = std::move(after)};
}

Task links(const char* name, double us, std::vector<int> after = {}) {
  return {.name = name,
          .kind = name,
          .traffic = "sum",
          .resource = Resource::links,
          .us = us,
          .after = std::move(after)};
}

TEST(Schedule, no_policy_is_searched_where_none_can_be_better) {
  TaskGraph graph;
  for (int i = 0; i < 5000; ++i) {
    graph.tasks.push_back(i % 2 == 0 ? compute("gemm", 3) : links("sum", 2));
    graph.tasks.back().kind += std::to_string(i);
  }
  constexpr int kForYears = 2'000'000'000;
  const Policy policy = search_policy(graph, {}, kForYears);
  EXPECT_DOUBLE_EQ(apply(graph, policy).schedule.us, 2500.0 * 3);
}

TEST(Schedule, no_order_is_searched_where_none_can_be_better) {
  // `fused` needs both resources; the longer one of the others follows.
  TaskGraph graph{{compute("gemm", 3), links("sum", 2), compute("fused", 4)}, {}};
  graph.tasks[2].resource = Resource::both;
  constexpr int kForYears = 2'000'000'000;
  const Scheduled found = search_order(graph, apply(graph, {}), kForYears);
  EXPECT_DOUBLE_EQ(found.schedule.us, 4 + 3);
}

TEST(Schedule, a_search_of_no_trials_keeps_its_start) {
  // The policy takes `fill` first; beside the sum it costs nothing.
  const TaskGraph graph{{compute("a", 2), links("sum", 3, {0}), compute("fill", 6)}, {}};
  const Policy start{.earlier = {{"fill", 10}}};
  EXPECT_EQ(search_policy(graph, start, 0), start);
  EXPECT_DOUBLE_EQ(apply(graph, start).schedule.us, 6 + 2 + 3);
  EXPECT_DOUBLE_EQ(apply(graph, search_policy(graph, start, 100)).schedule.us, 2 + 6);
  EXPECT_DOUBLE_EQ(search_order(graph, apply(graph, start), 0).schedule.us, 6 + 2 + 3);
  EXPECT_DOUBLE_EQ(search_order(graph, apply(graph, start), 100).schedule.us, 2 + 6);
}

TEST(Schedule, hides_a_collective_behind_a_task_that_does_not_wait_for_it) {
  // a, then its sum, then c; b is free to fill the gap.
  const TaskGraph graph{
      {compute("b", 3), compute("a", 2), links("sum", 3, {1}), compute("c", 2, {2})}, {}};
  const StepPlan plan = plan_graph(graph);
  EXPECT_DOUBLE_EQ(plan.sequential_us, 10);
  EXPECT_DOUBLE_EQ(plan.scheduled_us, 7);
  EXPECT_DOUBLE_EQ(plan.ideal_us, 7);
  EXPECT_DOUBLE_EQ(plan.exposed_us.at("sum"), 0);
}

TEST(Schedule, contention_slows_both_sides) {
  TaskGraph graph{{compute("a", 10), links("sum", 4)}, {}};
  graph.tasks[1].slows = 1.25;
  graph.tasks[1].slowed = 1.5;
  const StepPlan plan = plan_graph(graph);
  // The sum takes 6 us, in which 4.8 us of the 10 us of a are done.
  EXPECT_NEAR(plan.scheduled_us, 6 + 5.2, 1e-9);
  expect_sound(plan.graph, plan.schedule);
}

TEST(Schedule, a_fusion_is_taken_where_it_pays) {
  for (const double us : {5.0, 9.0}) {
    const TaskGraph graph{{compute("a", 4), links("sum", 4, {0})}, {{0, 1, "a + sum", us, "x"}}};
    const StepPlan plan = plan_graph(graph);
    EXPECT_DOUBLE_EQ(plan.scheduled_us, std::min(us, 8.0));
    EXPECT_DOUBLE_EQ(plan.operations_us, std::min(us, 8.0));
    EXPECT_DOUBLE_EQ(plan.exposed_us.at("sum"), us == 5.0 ? 1 : 4);
  }
}

TEST(Schedule, where_tasks_are_fused_others_take_as_long_as_they_do_beside_these) {
  for (const double factor : {1.0, 1.1, 1.5}) {
    TaskGraph graph{{compute("a", 4), links("sum", 4, {0}), compute("b", 10, {1})},
                    {{0, 1, "a + sum", 5, "x"}}};
    graph.tasks[2].beside_fused = factor;
    const StepPlan plan = plan_graph(graph);
    EXPECT_DOUBLE_EQ(plan.sequential_us, 18);
    // Fused, 3 us are saved, and b takes 0, 1 or 5 us longer.
    EXPECT_DOUBLE_EQ(plan.operations_us, std::min(5 + 10 * factor, 18.0));
    EXPECT_DOUBLE_EQ(plan.scheduled_us, std::min(5 + 10 * factor, 18.0));
    EXPECT_DOUBLE_EQ(plan.operations.low_us, plan.operations_us);
  }
}

/// One kind of fusion alone saves 2 us and slows 7 GEMMs by 1.2 us each.
TEST(Schedule, fusions_that_pay_only_together_are_found) {
  TaskGraph graph;
  const int kPairs = 8;
  for (int i = 0; i < 10 * kPairs; ++i) {  // more tasks than are searched one by one
    const std::string kind = std::to_string(i % kPairs);
    const int task = 2 * i;
    graph.tasks.push_back(compute("a", 10));
    if (i > 0) graph.tasks.back().after = {task - 1};
    graph.tasks.back().kind = "a" + kind;
    graph.tasks.back().beside_fused = 1.12;
    graph.tasks.push_back(links("s", 5, {task}));
    graph.tasks.back().kind = "s" + kind;
    graph.fusions.push_back({task, task + 1, "a + s " + kind, 13, "x"});
  }
  const StepPlan plan = plan_graph(graph);
  EXPECT_DOUBLE_EQ(plan.sequential_us, 10 * kPairs * 15);
  EXPECT_DOUBLE_EQ(plan.operations_us, 10 * kPairs * 13);
  EXPECT_LE(plan.scheduled_us, plan.operations_us + 1e-9);
  // 1.8 us of each fused pair are more than its GEMM at the lower clock.
  EXPECT_NEAR(plan.exposed_us.at("sum"), 10 * kPairs * 1.8, 1e-6);
}

TEST(Schedule, fusions_that_exclude_each_other_or_close_a_cycle_are_not_taken_together) {
  // a + sum as one would have b both before and after it.
  const TaskGraph cycle{{compute("a", 1), compute("b", 1, {0}), links("sum", 1, {0, 1})},
                        {{0, 2, "a + sum", 0.1, "x"}}};
  EXPECT_FALSE(Nodes::make(cycle, {1}));
  expect_sound(cycle, apply(cycle, {.fused = {{"a + sum", true}}}).schedule);
  const TaskGraph shared{{links("in", 3), compute("a", 3, {0}), links("out", 3, {1})},
                         {{1, 0, "in + a", 4, "x"}, {1, 2, "a + out", 3, "x"}}};
  EXPECT_FALSE(Nodes::make(shared, {1, 1}));
  EXPECT_DOUBLE_EQ(plan_graph(shared).scheduled_us, 6);
  EXPECT_DOUBLE_EQ(plan_graph(shared).operations_us, 6);
}

TEST(Schedule, a_fusion_around_a_third_task_is_refused_also_where_later_tasks_stand_first) {
  // head, then a, then b, then the sum of both, then the tail; the list has them backwards.
  TaskGraph graph{{compute("tail", 1, {1}), links("sum", 1, {2, 3}), compute("b", 1, {3}),
                   compute("a", 1, {4}), compute("head", 1)},
                  {{3, 1, "a + sum", 2, "x"}}};
  const auto refused = check(graph);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("'b' is after 'a' and before 'sum'"));
  graph.tasks[2].after = {4};
  EXPECT_TRUE(check(graph));
}

TEST(Schedule, is_as_good_as_the_best_of_all) {
  std::mt19937 random(3);
  double over = 0;
  double list_over = 0;
  constexpr int kGraphs = 40;
  for (int i = 0; i < kGraphs; ++i) {
    SCOPED_TRACE(i);
    const TaskGraph graph =
        random_graph(random, {.tasks = 4 + i % 5, .chains = i % 2 == 0 ? 0 : 3});
    ASSERT_TRUE(check(graph));
    const double least = Everything(graph).least();
    const Scheduled list = apply(graph, {});
    expect_sound(graph, list.schedule);
    const Scheduled found = search_order(graph, list, 20'000);
    expect_sound(graph, found.schedule);
    EXPECT_GE(found.schedule.us, least - 1e-6);
    EXPECT_LE(found.schedule.us, 1.02 * least);
    over += found.schedule.us / least - 1;
    list_over += list.schedule.us / least - 1;
  }
  std::cout << "over the best: " << 100 * over / kGraphs << " %; list scheduling without fusions "
            << 100 * list_over / kGraphs << " %\n";
  EXPECT_LE(over / kGraphs, 0.001);
  EXPECT_GT(list_over / kGraphs, 0.01);  // else there was nothing to find
}

TEST(TaskGraph, refuses_what_cannot_be_scheduled) {
  const auto refused = [](const TaskGraph& graph) {
    const auto checked = check(graph);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(refused({{compute("a", 1, {1}), compute("b", 1, {2}), compute("c", 1, {1})}, {}})
                .substr(0, 8),
            "task 'b'");
  EXPECT_THAT(refused({{compute("a", 1, {0})}, {}}), HasSubstr("'a': waits for itself"));
  EXPECT_THAT(refused({{compute("a", -1)}, {}}), HasSubstr("'a': -1 us"));
  EXPECT_THAT(refused({{compute("a", std::nan(""))}, {}}), HasSubstr("'a': nan us"));
  EXPECT_THAT(refused({{compute("a", 1, {5})}, {}}), HasSubstr("does not exist"));
  EXPECT_THAT(refused({{compute("a", 1), compute("b", 1, {0})}, {{0, 1, "x", 1, ""}}}),
              HasSubstr("one on links"));
  EXPECT_THAT(refused({{compute("a", 1), links("b", 1)}, {{0, 1, "x", 1, ""}}}),
              HasSubstr("after the other"));
}

}  // namespace
}  // namespace overlaptune
