#include "planning/sequences/study.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <span>

#include "core/statistics.hpp"
#include "planning/sequences/search/assemble.hpp"
#include "planning/sequences/search/runs.hpp"
#include "planning/sequences/search/solver.hpp"
#include "planning/sequences/simple_plans.hpp"

namespace overlaptune {
namespace {

/// Time of a batch with each single degree; infinite where a sequence does not fit.
std::vector<double> level_times(const Rates& rates, std::span<const std::int64_t> lengths) {
  const Runs runs(rates, runs_of(lengths));
  std::vector<double> times;
  for (int level = 0; level < rates.levels(); ++level) {
    const auto plan = plan_with_level(runs, level);
    times.push_back(plan ? plan->time_us : kNever);
  }
  return times;
}

/// The level with the least sum over all batches.
std::size_t static_level(const std::vector<std::vector<double>>& times) {
  std::vector<double> sums(times.front().size(), 0);
  for (const auto& batch : times) {
    std::transform(sums.begin(), sums.end(), batch.begin(), sums.begin(), std::plus<>());
  }
  return static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
}

template <class Value>
std::vector<double> each(const Study& study, Value value) {
  std::vector<double> values;
  values.reserve(study.batches.size());
  for (const StudiedBatch& batch : study.batches) values.push_back(std::invoke(value, batch));
  return values;
}

void summarize(Study& study) {
  using Batch = StudiedBatch;
  study.mean_time_us = mean(each(study, [](const Batch& b) { return b.plan.time_us; }));
  study.mean_lower_bound_us =
      mean(each(study, [](const Batch& b) { return b.plan.lower_bound_us; }));
  study.static_mean_us = mean(each(study, &Batch::static_us));
  study.batch_adaptive_mean_us = mean(each(study, &Batch::batch_adaptive_us));
  study.speedup_static =
      interval_of(each(study, [](const Batch& b) { return b.static_us / b.plan.time_us; }));
  study.speedup_batch_adaptive =
      interval_of(each(study, [](const Batch& b) { return b.batch_adaptive_us / b.plan.time_us; }));
  study.exchange_share =
      mean(each(study, [](const Batch& b) { return b.plan.exchange_us; })) / study.mean_time_us;
  const auto planning = each(study, &Batch::planning_ms);
  study.planning_ms_mean = mean(planning);
  study.planning_ms_max = *std::max_element(planning.begin(), planning.end());
  const auto errors = each(study, [](const Batch& b) { return b.plan.bucket_error; });
  study.bucket_error_mean = mean(errors);
  study.bucket_error_max = *std::max_element(errors.begin(), errors.end());
}

}  // namespace

Interval interval_of(const std::vector<double>& samples) {
  const double middle = mean(samples);
  if (samples.size() < 2) return {middle, middle, middle};
  double squares = 0;
  for (const double sample : samples) squares += (sample - middle) * (sample - middle);
  const auto count = static_cast<double>(samples.size());
  const double error = student_quantile(0.975, static_cast<int>(samples.size()) - 1) *
                       std::sqrt(squares / (count - 1) / count);
  return {middle, middle - error, middle + error};
}

Study run_study(const Rates& rates, const StudyInput& input, const StudyProgress& progress) {
  using Clock = std::chrono::steady_clock;
  Study study;
  std::vector<std::vector<double>> times;
  for (const auto& lengths : input.batches) {
    if (!progress(study.batches.size(), input.batches.size(), "planning")) break;
    StudiedBatch& batch = study.batches.emplace_back();
    const auto start = Clock::now();
    batch.plan = plan_batch(rates, lengths);
    batch.planning_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    times.push_back(level_times(rates, lengths));
    batch.batch_adaptive_us = *std::min_element(times.back().begin(), times.back().end());
  }
  if (study.batches.empty()) return study;
  const std::size_t level = static_level(times);
  study.static_degree = 1 << level;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Runs runs(rates, runs_of(input.batches[i]));
    StudiedBatch& batch = study.batches[i];
    batch.static_us = times[i][level];
    batch.static_plan = plan_with_level(runs, static_cast<int>(level)).value_or(BatchPlan{});
    find_members(batch.static_plan, input.batches[i]);
  }
  summarize(study);
  return study;
}

}  // namespace overlaptune
