#include "reports/plans/sequences_text.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "core/base/readable.hpp"

namespace overlaptune {
namespace {

std::size_t sequences_of(const BatchPlan& plan) {
  std::size_t count = 0;
  for (const MicroBatch& part : plan.micro_batches) {
    for (const Group& group : part.groups) count += group.sequences.size();
  }
  return count;
}

}  // namespace

std::string headline_of(const Study& study) {
  return fmt::format(
      "Groups of mixed sizes make a batch {:.2f} times as fast as groups of {} for all batches: {} "
      "instead of {}, at least {}\n",
      study.speedup_static.mean, study.static_degree, readable(us(study.mean_time_us)),
      readable(us(study.static_mean_us)), readable(us(study.mean_lower_bound_us)));
}

std::string extent_of(const Study& study, int gpus) {
  return fmt::format(
      "{} of {} sequences on {} GPUs",
      study.batches.size() == 1 ? "1 batch" : fmt::format("{} batches", study.batches.size()),
      sequences_of(study.batches.front().plan), gpus);
}

std::string summary_of(const Study& study) {
  const auto speedup = [](const Interval& interval) {
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", interval.mean, interval.low, interval.high);
  };
  return fmt::format(
      "mean time of a batch  {} (lower bound {}); {:.1f} % of it in all-to-all\n"
      "static                {} with groups of {}; speedup {}, 95 % interval\n"
      "best for each batch   {}; speedup {}\n"
      "planning              {} a batch, at most {}\n"
      "buckets               token error {:.2f} %, at most {:.2f} %\n",
      readable(us(study.mean_time_us)), readable(us(study.mean_lower_bound_us)),
      100 * study.exchange_share, readable(us(study.static_mean_us)), study.static_degree,
      speedup(study.speedup_static), readable(us(study.batch_adaptive_mean_us)),
      speedup(study.speedup_batch_adaptive), readable(us(1e3 * study.planning_ms_mean)),
      readable(us(1e3 * study.planning_ms_max)), 100 * study.bucket_error_mean,
      100 * study.bucket_error_max);
}

std::string batch_lines(const Study& study) {
  std::string text = "batch   planned ms  static ms  each-batch ms  bound ms  micro-batches\n";
  for (std::size_t i = 0; i < study.batches.size(); ++i) {
    const StudiedBatch& batch = study.batches[i];
    text +=
        fmt::format("{:5}  {:11.1f} {:10.1f} {:14.1f} {:9.1f} {:14}\n", i, batch.plan.time_us / 1e3,
                    batch.static_us / 1e3, batch.batch_adaptive_us / 1e3,
                    batch.plan.lower_bound_us / 1e3, batch.plan.micro_batches.size());
  }
  return text;
}

}  // namespace overlaptune
