// The tables of `evaluate --untuned`, on results made by hand.

#include "cli/evaluate_untuned.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune::cli {
namespace {

const Problem kProblem{Op::gemm_all_reduce, 4096, 8192, 1024, Elements::bf16, 8};

UntunedResult result(double predicted, double over_sequential, double over_best) {
  return {.problem = kProblem,
          .config = Chunked{.comm_ctas = 8, .chunks = 2},
          .predicted = us(predicted),
          .measured = us(100),
          .over_sequential = over_sequential,
          .best = Sequential{},
          .over_best = over_best};
}

UntunedResult failed() {
  UntunedResult wrong = result(90, 0, 1);
  wrong.verdict = Verdict::wrong;
  wrong.measured = {};
  return wrong;
}

/// Two percent over `sequential` are noise, three are not.
TEST(UntunedSummary, is_of_the_answers_that_ran) {
  const Table table = untuned_summary(
      {result(110, 0.5, 1.1), result(65, 1.03, 1.2), result(100, 1.02, 1), failed()});
  const OrderedJson row = to_json_rows(table).at(0);
  EXPECT_EQ(row.at("problems"), 3);
  EXPECT_NEAR(row.at("error_mean_percent").get<double>(), (10 + 35 + 0) / 3.0, 1e-9);
  EXPECT_NEAR(row.at("error_max_percent").get<double>(), 35, 1e-9);
  EXPECT_NEAR(row.at("regret_mean_percent").get<double>(), (10 + 20 + 0) / 3.0, 1e-9);
  EXPECT_NEAR(row.at("regret_max_percent").get<double>(), 20, 1e-9);
  EXPECT_NEAR(row.at("speedup").get<double>(), 1 / std::cbrt(0.5 * 1.03 * 1.02), 1e-12);
  EXPECT_EQ(row.at("slower_than_sequential"), 1);
  EXPECT_EQ(row.at("failed"), 1);
}

TEST(UntunedSummary, has_no_times_where_none_ran) {
  const OrderedJson row = to_json_rows(untuned_summary({failed()})).at(0);
  EXPECT_EQ(row.at("problems"), 0);
  EXPECT_TRUE(row.at("error_max_percent").is_null());
  EXPECT_TRUE(row.at("regret_max_percent").is_null());
  EXPECT_TRUE(row.at("speedup").is_null());
  EXPECT_EQ(row.at("failed"), 1);
}

TEST(UntunedTable, has_a_row_for_each_problem) {
  const OrderedJson rows = to_json_rows(untuned_table({result(110, 0.5, 1.25), failed()}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("problem"), to_string(kProblem));
  EXPECT_EQ(rows[0].at("answer"), to_string(result(1, 1, 1).config));
  EXPECT_EQ(rows[0].at("verdict"), "valid");
  EXPECT_EQ(rows[0].at("predicted_us"), 110);
  EXPECT_EQ(rows[0].at("measured_us"), 100);
  EXPECT_NEAR(rows[0].at("error_percent").get<double>(), 10, 1e-9);
  EXPECT_EQ(rows[0].at("speedup"), 2);
  EXPECT_EQ(rows[0].at("regret_percent"), 25);
  EXPECT_EQ(rows[0].at("best"), to_string(Config(Sequential{})));
  EXPECT_EQ(rows[1].at("verdict"), "wrong");
  EXPECT_EQ(rows[1].at("predicted_us"), 90);
  for (const char* column : {"measured_us", "error_percent", "speedup", "regret_percent"}) {
    EXPECT_TRUE(rows[1].at(column).is_null()) << column;
  }
}

}  // namespace
}  // namespace overlaptune::cli
