#include "planning/whatif/calibration.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/whatif/cluster_file.hpp"

namespace overlaptune::cluster {
namespace {

using ::testing::HasSubstr;

/// A law that the formulas do not know: another latency, rate, and a bend.
double law(double bytes, int gpus) {
  return 9 + 2.1 * gpus + bytes * (gpus - 1) / gpus / 170e3 + 0.01 * std::sqrt(bytes);
}

std::vector<MeasuredRow> rows(std::initializer_list<int> counts, double factor) {
  std::vector<MeasuredRow> list;
  for (const int gpus : counts) {
    for (double bytes = 4096; bytes < 2e9; bytes *= factor) {
      list.push_back({Operation::all_reduce, gpus, bytes, law(bytes, gpus)});
    }
  }
  return list;
}

Calibration calibrated(const std::vector<MeasuredRow>& list) {
  return value_or_throw(
      Calibration::fit(value_or_throw(find_cluster("h200-rings")), list, Operation::all_reduce));
}

TEST(Calibration, passes_through_what_was_measured) {
  const auto list = rows({2, 4, 8}, 4);
  const Calibration calibration = calibrated(list);
  for (const MeasuredRow& row : list) {
    const Estimate estimate = value_or_throw(calibration.at(row.bytes, row.gpus));
    EXPECT_NEAR(estimate.us, row.us, 1e-6 * row.us);
    EXPECT_LT(estimate.low_us, row.us);
    EXPECT_GT(estimate.high_us, row.us);
  }
}

TEST(Calibration, answers_between_and_beyond_the_rows) {
  const Calibration calibration = calibrated(rows({2, 4}, 4));
  for (const auto& [gpus, bound] : {std::pair{4, 0.08}, {8, 0.25}}) {
    for (double bytes = 8192; bytes < 8e9; bytes *= 4) {
      const double us = value_or_throw(calibration.at(bytes, gpus)).us;
      EXPECT_NEAR(us, law(bytes, gpus), bound * law(bytes, gpus)) << gpus << " " << bytes;
    }
  }
}

TEST(Calibration, an_interval_grows_with_the_distance_from_the_rows) {
  const Calibration calibration = calibrated(rows({2, 4}, 4));
  const auto width = [&](double bytes, int gpus) {
    const Estimate estimate = value_or_throw(calibration.at(bytes, gpus));
    return estimate.high_us / estimate.low_us;
  };
  EXPECT_GT(width(1e11, 4), width(1e6, 4));
  EXPECT_GT(width(1e6, 8), width(1e6, 4));
}

/// The figures of the file are of no account where enough is measured: a cluster with half the rate
/// and a third of the latency answers nearly alike.
TEST(Calibration, measured_rows_correct_wrong_figures) {
  Cluster wrong = value_or_throw(find_cluster("h200-rings"));
  wrong.levels[0].gb_per_s /= 2;
  wrong.levels[0].latency_us /= 3;
  const auto list = rows({2, 4, 8}, 16);
  const Calibration right = calibrated(list);
  const Calibration corrected =
      value_or_throw(Calibration::fit(wrong, list, Operation::all_reduce));
  for (double bytes = 4096; bytes < 1e10; bytes *= 3) {
    const double us = value_or_throw(right.at(bytes, 8)).us;
    EXPECT_NEAR(value_or_throw(corrected.at(bytes, 8)).us, us, 0.12 * us) << bytes;
  }
}

/// Times that fall as bytes rise are pooled (`Curve`).
TEST(Calibration, times_out_of_order_do_not_make_it_fall) {
  std::vector<MeasuredRow> list{{Operation::all_reduce, 8, 4096, 30},
                                {Operation::all_reduce, 8, 16384, 20},
                                {Operation::all_reduce, 8, 65536, 25}};
  const Calibration calibration = calibrated(list);
  EXPECT_NEAR(value_or_throw(calibration.at(4096, 8)).us,
              value_or_throw(calibration.at(16384, 8)).us, 1e-6);
}

TEST(Calibration, rows_that_do_not_fit_the_question) {
  const Cluster cluster = value_or_throw(find_cluster("h200-rings"));
  const auto error = [&](const std::vector<MeasuredRow>& list) {
    const auto fitted = Calibration::fit(cluster, list, Operation::all_reduce);
    return fitted ? "none" : fitted.error().message;
  };
  EXPECT_THAT(error({{Operation::all_gather, 8, 1024, 5}}),
              HasSubstr("of all_gather, none of all_reduce"));
  EXPECT_THAT(error({{Operation::all_reduce, 9, 1024, 5}}), HasSubstr("measured rows: --gpus 9"));
}

TEST(Calibration, takes_very_many_rows) {
  const auto list = rows({2, 4, 8}, 1.0003);
  ASSERT_GT(list.size(), 100'000U);
  const Calibration calibration = calibrated(list);
  EXPECT_NEAR(value_or_throw(calibration.at(1e6, 4)).us, law(1e6, 4), 0.01 * law(1e6, 4));
}

}  // namespace
}  // namespace overlaptune::cluster
