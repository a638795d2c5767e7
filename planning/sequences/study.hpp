#pragma once
// Plans of several batches, beside the baselines.

#include <functional>
#include <string_view>
#include <vector>

#include "planning/sequences/plan.hpp"
#include "planning/sequences/rates.hpp"

namespace overlaptune {

struct StudyInput {
  Gpus gpus{};
  std::vector<std::vector<std::int64_t>> batches{};
};

/// A mean with its 95 % interval (Student's t).
struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

/// Mean and interval of independent samples; the interval of one sample is the sample.
[[nodiscard]] Interval interval_of(const std::vector<double>& samples);

struct StudiedBatch {
  BatchPlan plan{};
  BatchPlan static_plan{};       ///< of the time `static_us`
  double static_us = 0;          ///< with the one degree that is best for all batches together
  double batch_adaptive_us = 0;  ///< with the one degree that is best for this batch
  double planning_ms = 0;
};

struct Study {
  std::vector<StudiedBatch> batches{};
  int static_degree = 0;
  double mean_time_us = 0;
  double mean_lower_bound_us = 0;
  double static_mean_us = 0;
  double batch_adaptive_mean_us = 0;
  Interval speedup_static{};  ///< mean over batches of static over planned time
  Interval speedup_batch_adaptive{};
  double exchange_share = 0;  ///< of the planned time
  double planning_ms_mean = 0;
  double planning_ms_max = 0;
  double bucket_error_mean = 0;  ///< tokens by which buckets are wrong, over all tokens
  double bucket_error_max = 0;
};

/// Called before each batch; returning false ends the study early.
using StudyProgress =
    std::function<bool(std::size_t done, std::size_t total, std::string_view what)>;

/// Plans every batch. Every sequence must fit into all GPUs together.
[[nodiscard]] Study run_study(const Rates& rates, const StudyInput& input,
                              const StudyProgress& progress);

}  // namespace overlaptune
