#include "reports/sequences_text.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace overlaptune {
namespace {

/// Microseconds in a unit that people read.
std::string shown(double us) {
  return us < 1e6 ? fmt::format("{:.1f} ms", us / 1e3) : fmt::format("{:.1f} s", us / 1e6);
}

std::size_t sequences_of(const BatchPlan& plan) {
  std::size_t count = 0;
  for (const MicroBatch& part : plan.micro_batches) {
    for (const Group& group : part.groups) count += group.sequences.size();
  }
  return count;
}

std::string summary(const Study& study, int gpus) {
  const auto speedup = [](const Interval& interval) {
    return fmt::format("{:.3f} ({:.3f} to {:.3f})", interval.mean, interval.low, interval.high);
  };
  return fmt::format(
      "{} of {} sequences on {} GPUs\n"
      "mean time of a batch  {:.1f} ms (lower bound {:.1f} ms); {:.1f} % of it in all-to-all\n"
      "static                {:.1f} ms with groups of {}; speedup {}, 95 % interval\n"
      "best for each batch   {:.1f} ms; speedup {}\n"
      "planning              {:.1f} ms a batch, at most {:.1f} ms\n"
      "buckets               token error {:.2f} %, at most {:.2f} %\n",
      study.batches.size() == 1 ? "1 batch" : fmt::format("{} batches", study.batches.size()),
      sequences_of(study.batches.front().plan), gpus, study.mean_time_us / 1e3,
      study.mean_lower_bound_us / 1e3, 100 * study.exchange_share, study.static_mean_us / 1e3,
      study.static_degree, speedup(study.speedup_static), study.batch_adaptive_mean_us / 1e3,
      speedup(study.speedup_batch_adaptive), study.planning_ms_mean, study.planning_ms_max,
      100 * study.bucket_error_mean, 100 * study.bucket_error_max);
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

}  // namespace

std::string headline_of(const Study& study) {
  return fmt::format(
      "Groups of mixed sizes make a batch {:.2f} times as fast as groups of {} for all batches: {} "
      "instead of {}, at least {}\n",
      study.speedup_static.mean, study.static_degree, shown(study.mean_time_us),
      shown(study.static_mean_us), shown(study.mean_lower_bound_us));
}

std::string text_of(const Study& study, int gpus) {
  return batch_lines(study) + "\n" + summary(study, gpus);
}

}  // namespace overlaptune
