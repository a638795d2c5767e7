// The forms of a planned step, on a plan made by hand.

#include "reports/plans/step.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Cell text(const char* words) {
  return Cell(std::string(words));
}

/// A product and its sum as one, a product beside a gather, and times that no schedule gives.
StepPlan planned() {
  StepPlan plan{
      .sequential_us = 4000,
      .operations_us = 3500,
      .list_us = 3200,
      .scheduled_us = 2500,
      .ideal_us = 2000,
      .exposed_us = {{"all_gather", 30}, {"reduce_scatter", 20}},
      .sequential_exposed_us = {{"all_gather", 120}, {"all_reduce", 10}, {"reduce_scatter", 40}},
      .layers = 4,
      .bucket_layers = 2,
      .phases = {{Phase::forward, 1600, 1000}, {Phase::backward, 2400, 1500}},
      .choices = {{"fused: o", 700}, {"later: gather", 25}}};
  plan.graph.tasks = {
      {.name = "o",
       .resource = Resource::compute,
       .is_gemm = true,
       .elements = Elements::e4m3_rows_bf16,
       .us = 5,
       .source = "measured"},
      {.name = "sum",
       .resource = Resource::links,
       .us = 3,
       .slows = 1.1,
       .slowed = 1.2,
       .after = {0},
       .source = "predicted"},
      {.name = "norm", .resource = Resource::compute, .us = 2, .after = {1}, .source = "memory"},
      {.name = "gather", .resource = Resource::links, .us = 4, .source = "given"}};
  plan.graph.fusions = {{.compute = 0, .links = 1, .us = 6, .source = "tuned"}};
  plan.schedule = {.us = 10,
                   .placed = {{.task = 0, .fusion = 0, .start_us = 0, .end_us = 6},
                              {.task = 2, .start_us = 6, .end_us = 8},
                              {.task = 3, .start_us = 6, .end_us = 10}}};
  return plan;
}

TEST(StepReport, begins_with_the_gain) {
  EXPECT_EQ(headline_of(planned(), "a layer"),
            "Overlap makes a layer 1.60 times as fast: 2.5 ms instead of 4 ms, at best 2 ms");
}

TEST(StepReport, no_gain_is_told_where_nothing_takes_time) {
  EXPECT_EQ(headline_of({}, "a.json"),
            "The operations of a.json take no time: 0 us instead of 0 us");
}

TEST(StepReport, json_has_every_time) {
  const OrderedJson json = json_of(planned());
  EXPECT_EQ(json.at("sequential_us"), 4000);
  EXPECT_EQ(json.at("operations_us"), 3500);
  EXPECT_EQ(json.at("list_us"), 3200);
  EXPECT_EQ(json.at("scheduled_us"), 2500);
  EXPECT_EQ(json.at("ideal_us"), 2000);
  EXPECT_EQ(json.at("exposed_us").dump(), R"({"all_gather":30.0,"reduce_scatter":20.0})");
  EXPECT_EQ(json.at("sequential_exposed_us").dump(),
            R"({"all_gather":120.0,"all_reduce":10.0,"reduce_scatter":40.0})");
  EXPECT_EQ(json.at("layers"), 4);
  EXPECT_EQ(json.at("bucket_layers"), 2);
  EXPECT_EQ(
      json.at("phases").dump(),
      R"([{"phase":"forward","sequential_us":1600.0,"scheduled_us":1000.0,"gain_per_layer_us":150.0},)"
      R"({"phase":"backward","sequential_us":2400.0,"scheduled_us":1500.0,"gain_per_layer_us":225.0}])");
  EXPECT_EQ(json.at("choices").dump(), R"([{"choice":"fused: o","gain_us":700.0},)"
                                       R"({"choice":"later: gather","gain_us":25.0}])");
}

TEST(StepReport, json_has_the_schedule_and_the_graph) {
  const OrderedJson json = json_of(planned());
  EXPECT_EQ(
      json.at("nodes").dump(),
      R"([{"name":"o + sum","resource":"both","start_us":0.0,"end_us":6.0,"cost_source":"tuned"},)"
      R"({"name":"norm","resource":"compute","start_us":6.0,"end_us":8.0,"cost_source":"memory"},)"
      R"({"name":"gather","resource":"links","start_us":6.0,"end_us":10.0,"cost_source":"given"}])");
  EXPECT_EQ(json.at("tasks").size(), 4U);
  EXPECT_EQ(
      json.at("tasks").at(1).dump(),
      R"({"name":"sum","kind":"","resource":"links","us":3.0,"after":["o"],"slows":1.1,"slowed":1.2,)"
      R"("cost_source":"predicted"})");
  EXPECT_EQ(json.at("tasks").at(0).at("dtype"), "e4m3_rows_bf16");
  EXPECT_FALSE(json.at("tasks").at(2).contains("dtype"));  // no GEMM
  EXPECT_EQ(json.at("fusions").dump(),
            R"([{"compute":"o","links":"sum","us":6.0,"cost_source":"tuned"}])");
}

TEST(StepReport, doubtful_times_have_their_ranges) {
  EXPECT_FALSE(json_of(planned()).contains("sequential_low_us"));
  EXPECT_EQ(tables_of(planned(), "").front().columns.size(), 4U);
  StepPlan plan = planned();
  plan.sequential = {3000, 5000};
  plan.operations = {2800, 4500};
  plan.graph.tasks[2].doubt = {.low = 0.5, .high = 2, .more_us = 1};
  plan.graph.tasks[2].probe = LayerProbe{LayerWork::norm, 64};
  plan.graph.fusions[0].doubt = {.low = 0.5, .high = 1};
  const OrderedJson json = json_of(plan);
  EXPECT_EQ(json.at("sequential_low_us"), 3000);
  EXPECT_EQ(json.at("sequential_high_us"), 5000);
  EXPECT_EQ(json.at("operations_low_us"), 2800);
  EXPECT_EQ(json.at("operations_high_us"), 4500);
  const OrderedJson& norm = json.at("tasks").at(2);
  EXPECT_EQ(norm.at("low_us"), 1);
  EXPECT_EQ(norm.at("high_us"), 5);
  EXPECT_EQ(norm.at("work"), "norm");
  EXPECT_EQ(norm.at("amount"), 64);
  EXPECT_FALSE(json.at("tasks").at(1).contains("low_us"));
  EXPECT_EQ(json.at("fusions").at(0).at("low_us"), 3);
  const Table times = tables_of(plan, "").front();
  EXPECT_EQ(times.columns.size(), 6U);
  EXPECT_EQ(std::get<double>(times.rows.at(1).at(5)), 4.5);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(times.rows.at(2).at(5)));
}

TEST(StepReport, a_graph_has_no_layers_and_no_buckets) {
  StepPlan given = planned();
  given.layers = 0;
  given.bucket_layers = 0;
  const OrderedJson json = json_of(given);
  EXPECT_TRUE(json.at("bucket_layers").is_null());
  EXPECT_FALSE(json.at("phases").at(0).contains("gain_per_layer_us"));
  std::vector<std::string> names;
  for (const Table& table : tables_of(given, "")) names.push_back(table.name);
  EXPECT_THAT(names, ElementsAre("times", "exposed", "choices"));
}

/// Milliseconds, with ratios to `sequential`.
TEST(StepReport, tables) {
  const auto tables = tables_of(planned(), "sim:x");
  ASSERT_EQ(tables.size(), 4U);
  const Cell machine = text("sim:x");
  EXPECT_THAT(
      tables[0].rows,
      ElementsAre(ElementsAre(text("sequential"), Cell(4.0), Cell(1.0), Cell(0.17), machine),
                  ElementsAre(text("overlap by operation"), Cell(3.5), Cell(4000.0 / 3500), Cell(),
                              machine),
                  ElementsAre(text("list scheduling"), Cell(3.2), Cell(1.25), Cell(), machine),
                  ElementsAre(text("scheduled"), Cell(2.5), Cell(1.6), Cell(0.05), machine),
                  ElementsAre(text("ideal"), Cell(2.0), Cell(2.0), Cell(), machine)));
  EXPECT_THAT(tables[1].rows,
              ElementsAre(ElementsAre(text("all_gather"), Cell(0.12), Cell(0.03), machine),
                          ElementsAre(text("all_reduce"), Cell(0.01), Cell(0.0), machine),
                          ElementsAre(text("reduce_scatter"), Cell(0.04), Cell(0.02), machine)));
  EXPECT_THAT(
      tables[2].rows,
      ElementsAre(
          ElementsAre(text("forward"), Cell(1.6), Cell(1.0), Cell(37.5), Cell(150.0), machine),
          ElementsAre(text("backward"), Cell(2.4), Cell(1.5), Cell(37.5), Cell(225.0), machine)));
  EXPECT_THAT(
      tables[3].rows,
      ElementsAre(ElementsAre(text("fused: o"), Cell(0.7), Cell(100 * (700 / 2500.0)), machine),
                  ElementsAre(text("later: gather"), Cell(0.025), Cell(1.0), machine)));
  for (const Table& table : tables) {
    EXPECT_EQ(table.columns.back().name, "machine");
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.name;
  }
}

TEST(StepReport, tables_without_a_machine_and_with_many_choices) {
  StepPlan many = planned();
  many.sequential_exposed_us.clear();
  many.choices.assign(20, {"fused: o", 1});
  many.sequential_us = 0;
  const auto tables = tables_of(many, "");
  ASSERT_EQ(tables.size(), 3U);  // nothing was exposed
  EXPECT_EQ(tables[0].columns.size(), 4U);
  EXPECT_EQ(tables[0].rows.front(),
            (std::vector<Cell>{text("sequential"), Cell(0.0), Cell(), Cell(0.0)}));
  EXPECT_EQ(tables[2].rows.size(), 12U);
}

/// A fused pair is on both threads: compute is 0, the links are 1.
TEST(StepReport, trace_has_compute_and_links) {
  const OrderedJson trace = OrderedJson::parse(trace_of(planned(), "title"));
  std::vector<std::string> events;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    events.push_back(event.at("name").get<std::string>() + " " + event.at("tid").dump() + " " +
                     event.at("ts").dump() + " " + event.at("dur").dump() + " " +
                     event.at("cat").get<std::string>());
  }
  EXPECT_THAT(events, testing::UnorderedElementsAre(
                          "o + sum 0 0.0 6.0 gemm", "o + sum 1 0.0 6.0 collective",
                          "norm 0 6.0 2.0 other", "gather 1 6.0 4.0 collective"));
}

}  // namespace
}  // namespace overlaptune
