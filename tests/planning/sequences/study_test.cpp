#include "planning/sequences/study.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planning/sequences/costs_7b.hpp"
#include "tests/planning/sequences/wikipedia_lengths.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;

/// 2 GPUs of 100 tokens each. A token takes a microsecond on one GPU, and a quarter of one for the
/// exchange of two; a micro-batch takes ten.
class SmallStudy : public testing::Test {
 protected:
  SmallStudy() {
    costs_.linear_us = 1;
    costs_.bytes_of_token = 1;
    costs_.degrees = {{1, 0, 10}, {2, 0.25, 10}};
  }
  [[nodiscard]] Study study(std::vector<std::vector<std::int64_t>> batches) const {
    const Rates rates(costs_, {2, 2, 100});
    return run_study(rates, {.gpus = {2, 2, 100}, .batches = std::move(batches)},
                     [](auto, auto, auto) { return true; });
  }

 private:
  Coefficients costs_{};
};

TEST_F(SmallStudy, figures_by_hand) {
  // The first batch: {60} beside {60} in 70 us, or 120 tokens on both GPUs in 60 + 30 + 10.
  // The second: 80 tokens on one GPU in 90 us, or on both in 40 + 20 + 10.
  const Study made = study({{60, 60}, {80}});
  ASSERT_EQ(made.batches.size(), 2U);
  const StudiedBatch& first = made.batches[0];
  const StudiedBatch& second = made.batches[1];
  EXPECT_DOUBLE_EQ(first.plan.time_us, 70);
  EXPECT_DOUBLE_EQ(second.plan.time_us, 70);
  EXPECT_DOUBLE_EQ(first.batch_adaptive_us, 70);
  EXPECT_DOUBLE_EQ(second.batch_adaptive_us, 70);
  // One degree for both: 70 + 90 with degree 1, 100 + 70 with degree 2.
  EXPECT_EQ(made.static_degree, 1);
  EXPECT_DOUBLE_EQ(first.static_us, 70);
  EXPECT_DOUBLE_EQ(second.static_us, 90);
  EXPECT_DOUBLE_EQ(first.static_plan.time_us, 70);
  EXPECT_DOUBLE_EQ(second.static_plan.time_us, 90);

  EXPECT_DOUBLE_EQ(made.mean_time_us, 70);
  EXPECT_DOUBLE_EQ(made.static_mean_us, 80);
  EXPECT_DOUBLE_EQ(made.batch_adaptive_mean_us, 70);
  EXPECT_DOUBLE_EQ(made.speedup_static.mean, (1 + 90.0 / 70) / 2);
  EXPECT_DOUBLE_EQ(made.speedup_batch_adaptive.mean, 1);
  EXPECT_DOUBLE_EQ(made.speedup_batch_adaptive.high, 1);
  // Only the second batch exchanges: 20 us of 70 and 70.
  EXPECT_DOUBLE_EQ(made.exchange_share, 10.0 / 70);
}

TEST_F(SmallStudy, a_plan_may_be_faster_than_any_one_degree) {
  // {120} takes both GPUs: 60 + 30 + 10 us. The pair of 60 takes 70 side by side, 100 on both.
  const Study made = study({{120, 60, 60}});
  EXPECT_DOUBLE_EQ(made.batches[0].plan.time_us, 100 + 70);
  EXPECT_DOUBLE_EQ(made.batches[0].batch_adaptive_us, 100 + 100);
  EXPECT_DOUBLE_EQ(made.batches[0].static_us, 200);
  EXPECT_EQ(made.static_degree, 2);
  EXPECT_DOUBLE_EQ(made.speedup_static.mean, 200.0 / 170);
  EXPECT_DOUBLE_EQ(made.speedup_batch_adaptive.mean, 200.0 / 170);
  EXPECT_DOUBLE_EQ(made.exchange_share, 30.0 / 170);
  EXPECT_DOUBLE_EQ(made.mean_lower_bound_us, made.batches[0].plan.lower_bound_us);
}

TEST_F(SmallStudy, what_is_reported_before_each_batch_may_end_it) {
  Coefficients costs;
  costs.linear_us = 1;
  costs.bytes_of_token = 1;
  costs.degrees = {{1, 0, 10}};
  const Rates rates(costs, {1, 1, 100});
  std::vector<std::size_t> seen;
  const Study made = run_study(rates, {.gpus = {1, 1, 100}, .batches = {{10}, {20}, {30}}},
                               [&](std::size_t done, std::size_t total, auto) {
                                 EXPECT_EQ(total, 3U);
                                 seen.push_back(done);
                                 return done < 2;
                               });
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));
  ASSERT_EQ(made.batches.size(), 2U);
  EXPECT_DOUBLE_EQ(made.mean_time_us, 25);  // 20 and 30
  const Study none = run_study(rates, {.gpus = {1, 1, 100}, .batches = {{10}}},
                               [](auto, auto, auto) { return false; });
  EXPECT_TRUE(none.batches.empty());
}

TEST(Study, its_means_are_those_of_its_batches) {
  const Coefficients costs = costs_7b(64);
  const Rates rates(costs, gpus_28g(64));
  StudyInput input;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    auto& lengths = input.batches.emplace_back(wikipedia_lengths(256, seed));
    for (auto& length : lengths)
      length = (std::min<std::int64_t>(length, 98'304) + 127) / 128 * 128;
  }
  const Study study = run_study(rates, input, [](auto, auto, auto) { return true; });
  ASSERT_EQ(study.batches.size(), 5U);
  double sum = 0;
  double ratios = 0;
  double bounds = 0;
  double planning = 0;
  double most_planning = 0;
  double errors = 0;
  double most_error = 0;
  for (const StudiedBatch& batch : study.batches) {
    sum += batch.plan.time_us;
    bounds += batch.plan.lower_bound_us;
    planning += batch.planning_ms;
    most_planning = std::max(most_planning, batch.planning_ms);
    errors += batch.plan.bucket_error;
    most_error = std::max(most_error, batch.plan.bucket_error);
    ratios += batch.static_us / batch.plan.time_us;
    // The one degree for all is at best as good as the one for this batch; a plan may use either.
    EXPECT_LE(batch.batch_adaptive_us, batch.static_us);
    EXPECT_LE(batch.plan.time_us, batch.batch_adaptive_us);
  }
  EXPECT_NEAR(study.mean_time_us, sum / 5, 1e-6 * sum);
  EXPECT_NEAR(study.speedup_static.mean, ratios / 5, 1e-9);
  EXPECT_LT(study.speedup_static.low, study.speedup_static.mean);
  EXPECT_NEAR(study.mean_lower_bound_us, bounds / 5, 1e-9 * bounds);
  EXPECT_NEAR(study.planning_ms_mean, planning / 5, 1e-9 * planning);
  EXPECT_EQ(study.planning_ms_max, most_planning);
  EXPECT_GT(errors, 0);
  EXPECT_NEAR(study.bucket_error_mean, errors / 5, 1e-12);
  EXPECT_EQ(study.bucket_error_max, most_error);
}

TEST(Study, an_interval_by_hand) {
  // Mean 0, standard deviation sqrt(11), standard error 1; Student's t of 10 degrees is 2.228.
  const Interval interval = interval_of({-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5});
  EXPECT_NEAR(interval.mean, 0, 1e-12);
  EXPECT_NEAR(interval.high, 2.228, 1e-3);
  EXPECT_NEAR(interval.low, -2.228, 1e-3);
  // Two samples at -1 and 1: standard error 1; one degree of freedom.
  EXPECT_NEAR(interval_of({-1, 1}).high, 12.706, 1e-3);
  EXPECT_EQ(interval_of({3}).high, 3);
}

TEST(Study, speedups_with_published_coefficients_come_near_the_published_ones) {
  // FlexSP has 1.72 over the static degree on Wikipedia at 192k; these lengths are only like it.
  const Coefficients costs = costs_7b(64);
  const Rates rates(costs, gpus_28g(64));
  StudyInput input;
  std::vector<std::int64_t> batch;
  for (const std::int64_t length : wikipedia_lengths(22'000, 1)) {
    if (length > 192 * 1024) continue;
    batch.push_back((length + 127) / 128 * 128);
    if (batch.size() == 512) input.batches.push_back(std::exchange(batch, {}));
    if (input.batches.size() == 40) break;
  }
  const Study study = run_study(rates, input, [](auto, auto, auto) { return true; });
  EXPECT_NEAR(study.speedup_static.mean, 1.72, 0.15);
}

}  // namespace
}  // namespace overlaptune
