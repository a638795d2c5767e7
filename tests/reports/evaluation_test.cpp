#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/quality/rerun.hpp"
#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

using rows::candidate;

const Problem kOther{Op::gemm_reduce_scatter, 4096, 8192, 3584, Elements::bf16, 8};

/// Two problems with errors of 10, 20, 30 and 40 % and regrets that are easy to see.
Snapshot sample() {
  return rows::snapshot(
      {}, {
              candidate({.strategy = strategy_of<Sequential>(),
                         .comm_ctas = 0,
                         .predicted = 150,
                         .measured = 100,
                         .origin = Origin::baseline}),
              candidate({.comm_ctas = 1, .predicted = 88, .measured = 80, .rank = 0}),
              candidate({.comm_ctas = 2, .predicted = 72, .measured = 60, .rank = 1}),
              candidate({.strategy = strategy_of<Chunked>(),
                         .predicted = 65,
                         .measured = 50,
                         .origin = Origin::explore}),
              candidate({.comm_ctas = 3, .predicted = 10}),  // failed: it takes part in nothing
              candidate({.strategy = strategy_of<Sequential>(),
                         .comm_ctas = 0,
                         .predicted = 100,
                         .measured = 100,
                         .origin = Origin::baseline,
                         .problem = kOther}),
              candidate(
                  {.comm_ctas = 1, .predicted = 56, .measured = 40, .rank = 0, .problem = kOther}),
          });
}

TEST(Evaluation, errors_by_hand) {
  const Evaluation evaluation = evaluate(sample(), 1, 5);
  EXPECT_EQ(evaluation.error.count, 4);
  EXPECT_NEAR(evaluation.error.mean, 0.25, 1e-12);
  EXPECT_NEAR(evaluation.error.median, 0.25, 1e-12);
  EXPECT_NEAR(evaluation.error.p90, 0.37, 1e-12);
  EXPECT_NEAR(evaluation.error.max, 0.40, 1e-12);
  EXPECT_EQ(evaluation.sequential.count, 2);
  EXPECT_NEAR(evaluation.sequential.mean, 0.25, 1e-12);
}

TEST(Evaluation, breakdown_adds_up) {
  const Evaluation evaluation = evaluate(sample(), 1, 5);
  for (const auto* breakdown : {&evaluation.strategies, &evaluation.ops, &evaluation.origins}) {
    int count = 0;
    double sum = 0;
    for (const ErrorSummary& part : *breakdown) {
      count += part.count;
      sum += part.mean * part.count;
    }
    EXPECT_EQ(count, evaluation.error.count);
    EXPECT_NEAR(sum / count, evaluation.error.mean, 1e-12);
  }
  ASSERT_EQ(evaluation.strategies.size(), 2U);
  EXPECT_EQ(evaluation.strategies[0].name, "chunked");
  EXPECT_NEAR(evaluation.strategies[0].mean, 0.30, 1e-12);
}

TEST(Rerun, has_the_picks_and_the_fastest_and_judges_by_what_they_take_then) {
  const Snapshot snapshot = sample();
  const auto list = reruns(snapshot, snapshot.candidates.front().platform, 5, 2);
  ASSERT_EQ(list.size(), 2U);
  const auto& first = list[list[0].problem == kOther ? 1 : 0];
  const auto& other = list[list[0].problem == kOther ? 0 : 1];
  // sequential 100, first choice 80, of the shortlist 60, and of the two fastest 50 besides.
  ASSERT_EQ(first.configs.size(), 4U);
  EXPECT_EQ(strategy_of(first.configs.front()), strategy_of<Sequential>());
  EXPECT_EQ(comm_ctas(first.configs[first.first_choice]), 1);
  EXPECT_EQ(comm_ctas(first.configs[first.of_shortlist]), 2);
  EXPECT_EQ(strategy_of(first.configs[3]), strategy_of<Chunked>());
  ASSERT_EQ(other.configs.size(), 2U);
  EXPECT_EQ(other.first_choice, other.of_shortlist);

  // Now the first choice is the fastest, the shortlist's a tenth slower, and one did not run.
  const RegretSummary regret = regret_of({first, other}, {{1, 0.5, 0.55, std::nan("")}, {1, 1.25}});
  EXPECT_EQ(regret.problems, 2);
  EXPECT_NEAR(regret.top1_mean, 0.125, 1e-12);
  EXPECT_NEAR(regret.shortlist_mean, (0.1 + 0.25) / 2, 1e-12);
  EXPECT_EQ(regret_of({other}, {{1, std::nan("")}}).problems, 0);
  EXPECT_TRUE(reruns(snapshot, 4711, 5, 2).empty());
}

TEST(Rerun, the_shortlist_is_that_of_the_newest_run) {
  // An older run had another first choice, which was the fastest of all.
  Snapshot snapshot = sample();
  for (StoredCandidate& row : snapshot.candidates) row.run = 2;
  snapshot.candidates.push_back(
      candidate({.comm_ctas = 7, .predicted = 40, .measured = 45, .rank = 0, .run = 1}));
  const auto list = reruns(snapshot, snapshot.candidates.front().platform, 1, 1);
  const auto& first = list[list[0].problem == kOther ? 1 : 0];
  EXPECT_EQ(comm_ctas(first.configs[first.first_choice]), 1);
  EXPECT_EQ(comm_ctas(first.configs[first.of_shortlist]), 1);
  EXPECT_EQ(comm_ctas(first.configs.back()), 7);
}

TEST(Rerun, what_did_not_run_is_no_pick) {
  const StoredCandidate baseline = candidate({.strategy = strategy_of<Sequential>(),
                                              .measured = 100,
                                              .origin = Origin::baseline,
                                              .rank = {}});
  const StoredCandidate failed = candidate({.comm_ctas = 1, .rank = 0});
  const StoredCandidate ran =
      candidate({.comm_ctas = 2, .predicted = 85, .measured = 90, .rank = 1});
  const auto list = reruns(rows::snapshot({}, {failed, ran, baseline}), 1, 5, 3);
  ASSERT_EQ(list.size(), 1U);
  ASSERT_EQ(list[0].configs.size(), 2U);
  EXPECT_EQ(strategy_of(list[0].configs[0]), strategy_of<Sequential>());
  EXPECT_EQ(comm_ctas(list[0].configs[list[0].first_choice]), 2);
  EXPECT_EQ(list[0].predicted[1], us(85));
  EXPECT_EQ(list[0].problem, rows::kProblem);
  // Without a baseline, or a proposal that ran, there is nothing to compare.
  EXPECT_TRUE(reruns(rows::snapshot({}, {failed, ran}), 1, 5, 3).empty());
  EXPECT_TRUE(reruns(rows::snapshot({}, {failed, baseline}), 1, 5, 3).empty());
}

TEST(Evaluation, regret_is_against_everything_measured) {
  const Evaluation evaluation = evaluate(sample(), 1, 5);
  // First problem: 80 picked and 60 in the shortlist, where exploring found 50; second: the best.
  EXPECT_EQ(evaluation.regret.problems, 2);
  EXPECT_NEAR(evaluation.regret.top1_max, 0.6, 1e-12);
  EXPECT_NEAR(evaluation.regret.top1_mean, 0.3, 1e-12);
  EXPECT_NEAR(evaluation.regret.shortlist_max, 0.2, 1e-12);
  EXPECT_NEAR(evaluation.regret.shortlist_mean, 0.1, 1e-12);
}

TEST(Evaluation, a_shortlist_of_one_is_the_first_choice_or_the_baseline) {
  Snapshot data = sample();
  EXPECT_NEAR(evaluate(data, 1, 1).regret.shortlist_max, 0.6, 1e-12);
  data.candidates[1].candidate.measured = rows::times(160);  // worse than sequential's 100
  EXPECT_NEAR(evaluate(data, 1, 1).regret.shortlist_max, 1.0, 1e-12);
  EXPECT_NEAR(evaluate(data, 1, 1).regret.top1_max, 2.2, 1e-12);
}

TEST(Evaluation, a_failed_first_choice_gives_way_to_the_next) {
  const Evaluation evaluation = evaluate(
      rows::snapshot({}, {candidate({.comm_ctas = 1, .rank = 0}),
                          candidate({.comm_ctas = 2, .measured = 90, .rank = 1}),
                          candidate({.comm_ctas = 3, .measured = 60, .origin = Origin::explore})}),
      1, 5);
  EXPECT_EQ(evaluation.regret.problems, 1);
  EXPECT_NEAR(evaluation.regret.top1_max, 0.5, 1e-12);
}

TEST(Evaluation, the_newest_measurement_of_a_config_counts) {
  const Evaluation evaluation = evaluate(
      rows::snapshot(
          {}, {candidate({.comm_ctas = 1, .predicted = 100, .measured = 100, .rank = 0, .run = 2}),
               candidate({.comm_ctas = 1, .predicted = 50, .measured = 100, .rank = 1, .run = 1}),
               candidate({.comm_ctas = 2, .predicted = 80, .measured = 80, .rank = 0, .run = 1})}),
      1, 5);
  EXPECT_EQ(evaluation.error.count, 2);
  EXPECT_NEAR(evaluation.error.max, 0, 1e-12);
  EXPECT_NEAR(evaluation.regret.top1_max, 0.25, 1e-12);  // run 2 picked 100, run 1 had found 80
}

/// Platforms of one name, measured and simulated: errors of 10 and of 50 %, which nothing averages.
TEST(Evaluation, platforms_are_judged_apart) {
  StoredCandidate simulated = candidate({.predicted = 110, .measured = 100, .rank = 0});
  StoredCandidate measured = candidate({.predicted = 150, .measured = 100, .rank = 0});
  measured.platform = 2;
  Snapshot snapshot = rows::snapshot({}, {simulated, measured});
  Platform gpus = rows::platform();
  gpus.machine = "cuda";
  snapshot.platforms.push_back({.stored = {.id = 2, .platform = gpus}});
  Platform unused = rows::platform();
  unused.name = "unused";
  snapshot.platforms.push_back({.stored = {.id = 3, .platform = unused}});
  const auto list = evaluate(snapshot, 5);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].platform, "sim:eight");
  EXPECT_NEAR(list[0].error.max, 0.1, 1e-12);
  EXPECT_EQ(list[1].platform, "cuda:eight");
  EXPECT_NEAR(list[1].error.mean, 0.5, 1e-12);
  for (const Table& table : {error_table(list), regret_table(list)}) {
    ASSERT_EQ(table.rows.size() % 2, 0U);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const bool first = i < table.rows.size() / 2;
      EXPECT_EQ(table.rows[i][0], Cell(std::string(first ? "sim:eight" : "cuda:eight")));
    }
  }
}

/// Percentages; quantiles lie between two errors where they must.
TEST(Evaluation, tables_by_hand) {
  const std::vector<Evaluation> list{evaluate(sample(), 1, 5)};
  std::map<std::string, std::vector<double>> errors;
  for (const auto& row : error_table(list).rows) {
    std::vector<double>& figures = errors[std::get<std::string>(row.at(1))];
    figures.push_back(static_cast<double>(std::get<std::int64_t>(row.at(2))));
    for (std::size_t i = 3; i < row.size(); ++i) figures.push_back(std::get<double>(row[i]));
  }
  const auto expect = [&](const char* of, const std::vector<double>& figures) {
    EXPECT_THAT(errors.at(of), testing::Pointwise(testing::DoubleNear(1e-9), figures)) << of;
  };
  EXPECT_EQ(errors.size(), 8U);
  expect("all but sequential", {4, 25, 25, 37, 40});
  expect("sequential", {2, 25, 25, 45, 50});
  expect("strategy chunked", {1, 30, 30, 30, 30});
  expect("strategy signaled", {3, 70 / 3.0, 20, 36, 40});
  expect("op gemm_all_reduce", {3, 20, 20, 28, 30});
  expect("op gemm_reduce_scatter", {1, 40, 40, 40, 40});
  expect("origin explore", {1, 30, 30, 30, 30});
  expect("origin shortlist", {3, 70 / 3.0, 20, 36, 40});

  const auto rows = regret_table(list).rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at(1), Cell(std::string("the model's first choice")));
  EXPECT_EQ(rows[1].at(1), Cell(std::string("best of the first 5")));
  const std::vector<std::vector<double>> percents{{30, 60}, {10, 20}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at(2), Cell(std::int64_t{2}));
    EXPECT_NEAR(std::get<double>(rows[i].at(3)), percents[i][0], 1e-9);
    EXPECT_NEAR(std::get<double>(rows[i].at(4)), percents[i][1], 1e-9);
  }
}

TEST(Evaluation, json_has_its_values) {
  const auto json = OrderedJson::parse(json_of(evaluate(sample(), 1, 5)).dump());
  const std::map<std::string, double> values{{"count", 4},
                                             {"error_mean", 0.25},
                                             {"error_median", 0.25},
                                             {"error_p90", 0.37},
                                             {"error_max", 0.4},
                                             {"problems", 2},
                                             {"shortlist", 5},
                                             {"regret_top1_mean", 0.3},
                                             {"regret_top1_max", 0.6},
                                             {"regret_shortlist_mean", 0.1},
                                             {"regret_shortlist_max", 0.2}};
  for (const auto& [name, value] : values) {
    EXPECT_NEAR(json.at(name).get<double>(), value, 1e-9) << name;
  }
}

TEST(Evaluation, json_has_the_documented_fields) {
  const auto json = OrderedJson::parse(json_of(evaluate(sample(), 1, 5)).dump());
  EXPECT_EQ(json.at("count"), 4);
  EXPECT_NEAR(json.at("error_mean").get<double>(), 0.25, 1e-12);
  for (const char* name : {"error_median", "error_p90", "error_max", "regret_top1_mean",
                           "regret_top1_max", "regret_shortlist_max"}) {
    EXPECT_TRUE(json.at(name).is_number()) << name;
  }
  EXPECT_EQ(json.at("breakdown").at("op").size(), 2U);
  EXPECT_EQ(json.at("sequential").at("count"), 2);
}

TEST(Evaluation, nothing_measured_is_null) {
  const auto json = OrderedJson::parse(json_of(evaluate(rows::snapshot({}), 1, 5)).dump());
  EXPECT_EQ(json.at("count"), 0);
  EXPECT_TRUE(json.at("error_mean").is_null());
  EXPECT_TRUE(json.at("regret_top1_max").is_null());
}

}  // namespace
}  // namespace overlaptune
