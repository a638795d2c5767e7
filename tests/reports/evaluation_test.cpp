#include <cmath>

#include <gtest/gtest.h>

#include "reports/rerun.hpp"
#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

using rows::candidate;

const Problem kOther{Op::gemm_reduce_scatter, 4096, 8192, 3584, Dtype::bf16, 8};

/// Two problems with errors of 10, 20, 30 and 40 % and regrets that are easy to see.
Snapshot sample() {
  return rows::snapshot(
      {}, {
              candidate({.strategy = Strategy::sequential,
                         .comm_ctas = 0,
                         .predicted = 150,
                         .measured = 100,
                         .origin = Origin::baseline}),
              candidate({.comm_ctas = 1, .predicted = 88, .measured = 80, .rank = 0}),
              candidate({.comm_ctas = 2, .predicted = 72, .measured = 60, .rank = 1}),
              candidate({.strategy = Strategy::chunked,
                         .predicted = 65,
                         .measured = 50,
                         .origin = Origin::explore}),
              candidate({.comm_ctas = 3, .predicted = 10}),  // failed: it takes part in nothing
              candidate({.strategy = Strategy::sequential,
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
  EXPECT_EQ(strategy_of(first.configs.front()), Strategy::sequential);
  EXPECT_EQ(comm_ctas(first.configs[first.first_choice]), 1);
  EXPECT_EQ(comm_ctas(first.configs[first.of_shortlist]), 2);
  EXPECT_EQ(strategy_of(first.configs[3]), Strategy::chunked);
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

/// The same name, measured and simulated: errors of 10 and of 50 %, which nothing averages.
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
