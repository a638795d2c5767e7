// Plans of small graphs, whose times are worked out by hand.

#include "planning/schedules/step_plan.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Task compute_task(const char* name, double us, std::vector<int> after = {}) {
  return {.name = name, .kind = name, .us = us, .after = std::move(after)};
}

Task links_task(const char* name, const char* traffic, double us, std::vector<int> after = {}) {
  return {.name = name,
          .kind = name,
          .traffic = traffic,
          .resource = Resource::links,
          .us = us,
          .after = std::move(after)};
}

TEST(StepPlan, traffic_is_exposed_where_nothing_computes) {
  // compute  |a   |b  |        |c    |
  // links    |gather     |sum  |
  const TaskGraph graph{
      {compute_task("a", 4), compute_task("b", 3, {0}), links_task("gather", "gathers", 10),
       links_task("sum", "sums", 5, {2}), compute_task("c", 6, {3})},
      {}};
  const StepPlan plan = plan_graph(graph);
  EXPECT_DOUBLE_EQ(plan.scheduled_us, 21);
  EXPECT_THAT(plan.exposed_us, ElementsAre(Pair("gathers", 3.0), Pair("sums", 5.0)));
  EXPECT_THAT(plan.sequential_exposed_us, ElementsAre(Pair("gathers", 10.0), Pair("sums", 5.0)));
  EXPECT_DOUBLE_EQ(plan.sequential_us, 28);
  EXPECT_DOUBLE_EQ(plan.ideal_us, 15);  // the links; compute is 13
}

TEST(StepPlan, exposed_times_of_one_kind_of_traffic_add_up) {
  // compute  |a |           |b      |
  // links    |first   |     |second    |
  const TaskGraph graph{{compute_task("a", 2), links_task("first", "sums", 6),
                         compute_task("b", 5, {1}), links_task("second", "sums", 9, {1})},
                        {}};
  const StepPlan plan = plan_graph(graph);
  EXPECT_DOUBLE_EQ(plan.scheduled_us, 15);
  EXPECT_THAT(plan.exposed_us, ElementsAre(Pair("sums", 4.0 + 4.0)));
}

TEST(StepPlan, of_a_fused_pair_what_its_product_does_not_hide_is_exposed) {
  for (const double us : {5.0, 6.0, 4.0}) {
    const TaskGraph graph{{compute_task("product", 5), links_task("sum", "sums", 3, {0})},
                          {{.compute = 0, .links = 1, .kind = "product + sum", .us = us}}};
    const StepPlan plan = plan_graph(graph);
    EXPECT_DOUBLE_EQ(plan.scheduled_us, us);
    EXPECT_DOUBLE_EQ(plan.exposed_us.at("sums"), std::max(0.0, us - 5));
    EXPECT_THAT(plan.choices.front().choice, "fused: product + sum");
    EXPECT_DOUBLE_EQ(plan.choices.front().us, 8 - us);
    EXPECT_EQ(plan.choices.back().choice, "overlap across operations");
    EXPECT_DOUBLE_EQ(plan.choices.back().us, 0);
  }
}

TEST(StepPlan, traffic_beside_a_fused_pair_cannot_run) {
  // Both resources are taken for 6 us, then the links alone for 4.
  const TaskGraph graph{{compute_task("product", 5), links_task("sum", "sums", 5, {0}),
                         links_task("gather", "gathers", 4, {1})},
                        {{.compute = 0, .links = 1, .kind = "product + sum", .us = 6}}};
  const StepPlan plan = plan_graph(graph);
  EXPECT_DOUBLE_EQ(plan.scheduled_us, 10);
  EXPECT_THAT(plan.exposed_us, ElementsAre(Pair("gathers", 4.0), Pair("sums", 1.0)));
}

TEST(StepPlan, the_fusions_that_save_most_count_where_two_need_one_task) {
  // The product may be fused with either collective: that saves 2 or 3.
  const TaskGraph graph{{links_task("gather", "gathers", 4), compute_task("product", 5, {0}),
                         links_task("sum", "sums", 6, {1})},
                        {{.compute = 1, .links = 0, .kind = "gather + product", .us = 7},
                         {.compute = 1, .links = 2, .kind = "product + sum", .us = 8}}};
  EXPECT_DOUBLE_EQ(plan_graph(graph).operations_us, 12);
  // Each task at its fastest: compute 5, links 4 + 6.
  EXPECT_DOUBLE_EQ(plan_graph(graph).ideal_us, 10);
}

TEST(StepPlan, a_fusion_may_be_faster_than_its_parts) {
  const TaskGraph graph{
      {compute_task("product", 5), links_task("sum", "sums", 6, {0}), compute_task("other", 2)},
      {{.compute = 0, .links = 1, .kind = "product + sum", .us = 4}}};
  const StepPlan plan = plan_graph(graph);
  EXPECT_DOUBLE_EQ(plan.ideal_us, 4 + 2);  // compute: 4 of the fused pair, 2 of the other task
  EXPECT_DOUBLE_EQ(plan.operations_us, 6);
  EXPECT_DOUBLE_EQ(plan.scheduled_us, 6);
}

TEST(StepPlan, a_phase_ends_with_its_last_task) {
  TaskGraph graph{
      {compute_task("a", 4), links_task("sum", "sums", 3, {0}), compute_task("b", 6, {0}),
       compute_task("c", 5, {1, 2}), compute_task("d", 2, {3})},
      {}};
  graph.tasks[2].phase = Phase::backward;
  graph.tasks[3].phase = Phase::backward;
  graph.tasks[4].phase = Phase::update;
  const StepPlan plan = plan_graph(graph);
  ASSERT_EQ(plan.phases.size(), 3U);
  // The sum ends at 7, b at 10, c at 15, d at 17.
  const auto expect = [](const PhaseTimes& phase, Phase which, double sequential,
                         double scheduled) {
    EXPECT_EQ(phase.phase, which);
    EXPECT_DOUBLE_EQ(phase.sequential_us, sequential);
    EXPECT_DOUBLE_EQ(phase.scheduled_us, scheduled);
  };
  expect(plan.phases[0], Phase::forward, 7, 7);
  expect(plan.phases[1], Phase::backward, 11, 8);
  expect(plan.phases[2], Phase::update, 2, 2);
}

TEST(StepPlan, a_phase_without_tasks_is_left_out) {
  const StepPlan plan = plan_graph({{compute_task("a", 4)}, {}});
  ASSERT_EQ(plan.phases.size(), 1U);
  EXPECT_EQ(plan.phases.front().phase, Phase::forward);
}

TEST(StepPlan, sums_have_the_range_of_their_operations) {
  TaskGraph graph{{compute_task("a", 10), compute_task("b", 20)}, {}};
  graph.tasks[0].doubt = {.low = 0.5, .high = 2, .more_us = 3};
  graph.tasks.push_back(graph.tasks[1]);
  graph.tasks[2].name = "c";
  graph.tasks[2].resource = Resource::links;
  graph.tasks[2].after = {1};
  graph.tasks[2].doubt = {.low = 0.75, .high = 1.5};
  graph.fusions.push_back({.compute = 1, .links = 2, .us = 30, .doubt = {.low = 0.9, .high = 1.2}});
  const StepPlan plan = plan_graph(graph);
  EXPECT_DOUBLE_EQ(plan.sequential_us, 10 + 20 + 20);
  EXPECT_DOUBLE_EQ(plan.sequential.low_us, 5 + 20 + 15);
  EXPECT_DOUBLE_EQ(plan.sequential.high_us, 23 + 20 + 30);
  EXPECT_DOUBLE_EQ(plan.operations_us, 10 + 30);
  EXPECT_DOUBLE_EQ(plan.operations.low_us, 5 + 27);
  EXPECT_DOUBLE_EQ(plan.operations.high_us, 23 + 36);
}

std::string graph_error(const std::string& text) {
  const auto graph = parse_task_graph(text, "g.json");
  return graph ? "none" : graph.error().message;
}

TEST(StepGraphFile, fields_that_are_unknown_or_stand_twice_are_refused) {
  const std::string task = R"({"name": "a", "resource": "compute", "us": 1)";
  EXPECT_THAT(graph_error(R"({"tasks": [)" + task + R"(, "depends_on": ["b"]}]})"),
              AllOf(HasSubstr("g.json: tasks[0].depends_on: not a field that is read"),
                    HasSubstr("(fields: name, resource, us, after")));
  EXPECT_THAT(graph_error(R"({"tasks": [)" + task + R"(}], "fusion": []})"),
              HasSubstr("fusion: not a field that is read; did you mean 'fusions'?"));
  EXPECT_THAT(graph_error(R"({"tasks": [)" + task + R"(, "us": 2}]})"),
              HasSubstr("g.json: tasks[0].us: is there twice"));
  EXPECT_EQ(graph_error(R"({"tasks": [)" + task + R"(}], "scheduled_us": 1, "nodes": []})"),
            "none");
  for (const std::string field : {"fused", "depends", "Fusions", "after", "task", "edges"}) {
    EXPECT_THAT(
        graph_error(R"({"tasks": [)" + task + R"(}], "scheduled_us": 1, ")" + field + R"(": []})"),
        HasSubstr(field + ": not a field that is read"));
  }
  EXPECT_THAT(graph_error(R"({"tasks": [)" + task + R"(}], "scheduled_us": 1, "fusion": []})"),
              HasSubstr("fusion: not a field that is read; did you mean 'fusions'?"));
}

TEST(StepGraphFile, fields_that_are_null_are_refused) {
  const std::string task = R"({"name": "a", "resource": "compute", "us": 1)";
  for (const std::string field : {"after", "kind", "slows", "cost_source"}) {
    EXPECT_THAT(graph_error(R"({"tasks": [)" + task + ", \"" + field + R"(": null}]})"),
                HasSubstr("g.json: tasks[0]." + field + " is null: expected a value"));
  }
  EXPECT_THAT(graph_error(R"({"tasks": [)" + task + R"(}], "fusions": null})"),
              HasSubstr("g.json: fusions is null"));
}

TEST(StepGraphFile, no_task_is_between_those_of_a_fusion) {
  const auto with = [](const std::string& after_of_last) {
    return graph_error(R"({"tasks": [{"name": "gemm", "resource": "compute", "us": 3},
                      {"name": "norm", "resource": "compute", "us": 1, "after": ["gemm"]},
                      {"name": "copy", "resource": "links", "us": 1, "after": ["norm"]},
                      {"name": "other", "resource": "links", "us": 1},
                      {"name": "sum", "resource": "links", "us": 3, "after": )" +
                       after_of_last +
                       R"(}], "fusions": [{"compute": "gemm", "links": "sum", "us": 4}]})");
  };
  EXPECT_EQ(with(R"(["gemm", "other"])"), "none");
  EXPECT_THAT(with(R"(["gemm", "copy"])"),
              HasSubstr("fusion of 'gemm' and 'sum': 'norm' is after 'gemm' and before 'sum'"));
}

TEST(StepGraphFile, a_fusion_is_there_once_and_no_shorter_than_its_compute_task) {
  const auto with = [](const std::string& fusions) {
    return graph_error(
        R"({"tasks": [{"name": "a", "resource": "compute", "us": 10},
                      {"name": "b", "resource": "links", "us": 3, "after": ["a"]}], "fusions": [)" +
        fusions + "]}");
  };
  const std::string right = R"({"compute": "a", "links": "b", "us": 11})";
  EXPECT_EQ(with(right), "none");
  EXPECT_THAT(with(right + "," + right), HasSubstr("is there twice"));
  EXPECT_THAT(with(R"({"compute": "a", "links": "b", "us": 0.1})"),
              HasSubstr("expected the 10 us at least that 'a' takes alone"));
}

TEST(StepGraphFile, names_lead_to_one_task_each) {
  const auto with = [](const std::string& second) {
    return graph_error(R"({"tasks": [{"name": "a", "resource": "compute", "us": 10}, )" + second +
                       "]}");
  };
  EXPECT_EQ(with(R"({"name": "b", "resource": "links", "us": 3, "after": ["a"]})"), "none");
  EXPECT_THAT(with(R"({"name": "a", "resource": "links", "us": 3})"),
              HasSubstr("'a' is there twice: expected each name once"));
  EXPECT_THAT(with(R"({"name": "b", "resource": "links", "us": 3, "after": ["c"]})"),
              HasSubstr("no task 'c'"));
  EXPECT_THAT(with(R"({"name": "b", "resource": "links", "us": 3, "after": ["b"]})"),
              HasSubstr("cycle"));
  EXPECT_THAT(graph_error(R"({"tasks": []})"), HasSubstr("expected at least one task"));
}

TEST(StepGraphFile, times_and_slowdowns_have_limits) {
  const auto with = [](const std::string& fields) {
    return graph_error(R"({"tasks": [{"name": "a", "resource": "links", )" + fields + "}]}");
  };
  EXPECT_EQ(with(R"("us": 0)"), "none");
  EXPECT_EQ(with(R"("us": 1e12, "slows": 1, "slowed": 100)"), "none");
  EXPECT_THAT(with(R"("us": -1)"), HasSubstr("us"));
  EXPECT_THAT(with(R"("us": 1.1e12)"), HasSubstr("us"));
  EXPECT_THAT(with(R"("us": 1, "slows": 0.9)"), HasSubstr("slows"));
  EXPECT_THAT(with(R"("us": 1, "slowed": 0.9)"), HasSubstr("slowed"));
  EXPECT_THAT(with(R"("us": 1, "slows": 101)"), HasSubstr("slows"));
  EXPECT_THAT(with(R"("us": 1, "slowed": 101)"), HasSubstr("slowed"));
}

TEST(StepGraphFile, slowdowns_are_those_of_tasks_on_links) {
  const auto with = [](const std::string& resource, const char* field) {
    return graph_error(R"({"tasks": [{"name": "a", "us": 1, "resource": ")" + resource + "\", " +
                       field + "}]}");
  };
  for (const std::string resource : {"compute", "both"}) {
    EXPECT_EQ(with(resource, R"("slows": 1, "slowed": 1)"), "none");
    EXPECT_THAT(with(resource, R"("slows": 2)"),
                AllOf(HasSubstr("g.json: tasks[0].slows: a factor of tasks on links"),
                      HasSubstr("beside resource " + resource)));
    EXPECT_THAT(with(resource, R"("slowed": 2)"), HasSubstr("tasks[0].slowed: a factor"));
  }
}

TEST(StepGraphFile, the_factor_beside_fused_tasks_is_one_of_compute) {
  const auto with = [](const std::string& resource, const char* factor) {
    return graph_error(R"({"tasks": [{"name": "a", "us": 1, "resource": ")" + resource +
                       R"(", "beside_fused": )" + factor + "}]}");
  };
  EXPECT_EQ(with("compute", "1.2"), "none");
  EXPECT_EQ(with("links", "1"), "none");
  EXPECT_THAT(with("links", "1.2"), HasSubstr("beside_fused: a factor of tasks on compute"));
  EXPECT_THAT(with("compute", "0.9"), HasSubstr("beside_fused"));
}

TEST(StepGraphFile, the_same_dependency_twice_is_one) {
  const auto graph = parse_task_graph(
      R"({"tasks": [{"name": "a", "resource": "compute", "us": 1},
                    {"name": "b", "resource": "links", "us": 1, "after": ["a", "a"]}]})",
      "g");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_THAT(graph->tasks[1].after, ElementsAre(0));
}

/// A graph of many tasks that each wait for all before it runs one by one.
TEST(StepPlan, of_many_edges_ends) {
  TaskGraph graph;
  double sum = 0;
  for (int i = 0; i < 1200; ++i) {
    Task task{.name = std::to_string(i), .kind = std::to_string(i), .us = 1.0 + i % 7};
    if (i % 2 == 1) task.resource = Resource::links;
    for (int before = std::max(0, i - 400); before < i; ++before) task.after.push_back(before);
    sum += task.us;
    graph.tasks.push_back(std::move(task));
  }
  EXPECT_NEAR(plan_graph(std::move(graph)).scheduled_us, sum, 1e-6);
}

}  // namespace
}  // namespace overlaptune
