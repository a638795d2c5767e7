// The document of a study, on one that is made by hand.

#include "reports/plans/sequences.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

BatchPlan plan(double time, std::int64_t length) {
  return {.time_us = time,
          .lower_bound_us = time - 5,
          .micro_batches = {{.time_us = time,
                             .groups = {{.degree = 2,
                                         .first_gpu = 4,
                                         .sequences = {length, 19},
                                         .members = {1, 0},
                                         .tokens = length + 20,
                                         .time_us = time - 1,
                                         .memory_bytes = 1000.75}}}}};
}

TEST(SequencesReport, has_every_value_of_a_study) {
  const Study study{.batches = {{.plan = plan(100, 80),
                                 .static_plan = plan(130, 90),
                                 .static_us = 130,
                                 .batch_adaptive_us = 110,
                                 .planning_ms = 7}},
                    .static_degree = 8,
                    .mean_time_us = 101,
                    .mean_lower_bound_us = 95,
                    .static_mean_us = 131,
                    .batch_adaptive_mean_us = 111,
                    .speedup_static = {1.3, 1.2, 1.4},
                    .speedup_batch_adaptive = {1.1, 1.05, 1.15},
                    .exchange_share = 0.25,
                    .planning_ms_mean = 7,
                    .planning_ms_max = 9,
                    .bucket_error_mean = 0.01,
                    .bucket_error_max = 0.02};
  const std::vector<std::size_t> places{5, 9};
  OrderedJson json = json_of(
      study, {.batch = 2, .places = places, .limits = {.padding = 2, .padding_by_degree = true}});
  const OrderedJson batches = json.at("batches");
  json.erase("batches");
  EXPECT_EQ(json.dump(),
            R"({"mean_time_us":101.0,"static_mean_us":131.0,"static_degree":8,)"
            R"("batch_adaptive_mean_us":111.0,"speedup_static":1.3,)"
            R"("speedup_static_interval":[1.2,1.4],"speedup_batch_adaptive":1.1,)"
            R"("speedup_batch_adaptive_interval":[1.05,1.15],"all_to_all_share":0.25,)"
            R"("planning_ms_mean":7.0,"planning_ms_max":9.0,"bucket_token_error_mean":0.01,)"
            R"("bucket_token_error_max":0.02})");
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches.at(0).dump(),
            R"({"time_us":100.0,"static_us":130.0,"batch_adaptive_us":110.0,)"
            R"("lower_bound_us":95.0,"micro_batches":[{"time_us":100.0,"groups":[)"
            R"({"degree":2,"first_gpu":4,"pack":0,"sequences":[80,20],)"
            R"("lengths":[80,19],"indices":[9,5],"tokens":100,"time_us":99.0,)"
            R"("memory_bytes":1000}]}],"static_micro_batches":[{"time_us":130.0,"groups":[)"
            R"({"degree":2,"first_gpu":4,"pack":0,"sequences":[92,20],)"
            R"("lengths":[90,19],"indices":[9,5],"tokens":110,"time_us":129.0,)"
            R"("memory_bytes":1000}]}]})");
}

TEST(SequencesReport, begins_with_the_gain) {
  const Study study{.batches = {{.plan = plan(100, 80)}},
                    .static_degree = 8,
                    .mean_time_us = 2'000'000,
                    .mean_lower_bound_us = 950'000,
                    .static_mean_us = 3'000'000,
                    .speedup_static = {1.5, 1.4, 1.6}};
  EXPECT_EQ(headline_of(study),
            "Groups of mixed sizes make a batch 1.50 times as fast as groups of 8 for all batches: "
            "2 s instead of 3 s, at least 950 ms\n");
  EXPECT_EQ(extent_of(study, 64), "1 batch of 2 sequences on 64 GPUs");
}

TEST(SequencesReport, a_second_is_shown_as_one) {
  const Study study{.mean_time_us = 999'900, .mean_lower_bound_us = 500, .static_mean_us = 2e6};
  EXPECT_NE(headline_of(study).find("1 s instead of 2 s, at least 500 us"), std::string::npos);
}

TEST(SequencesReport, text_has_a_line_for_each_batch_and_the_means) {
  const Study study{
      .batches = {{.plan = plan(100'000, 80), .static_us = 130'000, .batch_adaptive_us = 110'000},
                  {.plan = plan(250'000, 80), .static_us = 280'000, .batch_adaptive_us = 260'000}},
      .static_degree = 8,
      .mean_time_us = 175'000,
      .mean_lower_bound_us = 150'000,
      .static_mean_us = 205'000,
      .batch_adaptive_mean_us = 185'000,
      .speedup_static = {1.3, 1.2, 1.4},
      .speedup_batch_adaptive = {1.1, 1.05, 1.15},
      .exchange_share = 0.25,
      .planning_ms_mean = 7,
      .planning_ms_max = 9,
      .bucket_error_mean = 0.01,
      .bucket_error_max = 0.02};
  EXPECT_EQ(batch_lines(study),
            "batch   planned ms  static ms  each-batch ms  bound ms  micro-batches\n"
            "    0        100.0      130.0          110.0     100.0              1\n"
            "    1        250.0      280.0          260.0     250.0              1\n");
  EXPECT_EQ(extent_of(study, 64), "2 batches of 2 sequences on 64 GPUs");
  EXPECT_EQ(summary_of(study),
            "mean time of a batch  175 ms (lower bound 150 ms); 25.0 % of it in all-to-all\n"
            "static                205 ms with groups of 8; speedup 1.30 (1.20 to 1.40), 95 % "
            "interval\n"
            "best for each batch   185 ms; speedup 1.10 (1.05 to 1.15)\n"
            "planning              7 ms a batch, at most 9 ms\n"
            "buckets               token error 1.00 %, at most 2.00 %\n");
}

}  // namespace
}  // namespace overlaptune
