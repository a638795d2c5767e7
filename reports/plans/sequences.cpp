#include "reports/plans/sequences.hpp"

#include <fmt/format.h>

#include "core/base/readable.hpp"

namespace overlaptune {
namespace {

/// Writes the plans of one batch.
class BatchWriter {
 public:
  BatchWriter(const SequenceSource& source, std::size_t batch)
      : places_(source.places.subspan(batch * static_cast<std::size_t>(source.batch))),
        limits_(source.limits) {}

  [[nodiscard]] OrderedJson json_of(const BatchPlan& plan) const {
    OrderedJson micro_batches = OrderedJson::array();
    std::size_t pack = 0;
    for (const MicroBatch& part : plan.micro_batches) {
      OrderedJson groups = OrderedJson::array();
      for (const Group& group : part.groups) groups.push_back(json_of(group, pack++));
      micro_batches.push_back({{"time_us", part.time_us}, {"groups", std::move(groups)}});
    }
    return micro_batches;
  }

 private:
  [[nodiscard]] OrderedJson json_of(const Group& group, std::size_t pack) const {
    OrderedJson sequences = OrderedJson::array();
    OrderedJson places = OrderedJson::array();
    for (const std::int64_t length : group.sequences) {
      sequences.push_back(padded(length, group.degree, limits_));
    }
    for (const std::size_t member : group.members) places.push_back(places_[member]);
    return {{"degree", group.degree},
            {"first_gpu", group.first_gpu},
            {"pack", pack},
            {"sequences", std::move(sequences)},
            {"lengths", group.sequences},
            {"indices", std::move(places)},
            {"tokens", group.tokens},
            {"time_us", group.time_us},
            {"memory_bytes", static_cast<std::int64_t>(group.memory_bytes)}};
  }

  std::span<const std::size_t> places_;
  Limits limits_;
};

OrderedJson json_of(const StudiedBatch& batch, const BatchWriter& writer) {
  return {{"time_us", batch.plan.time_us},
          {"static_us", batch.static_us},
          {"batch_adaptive_us", batch.batch_adaptive_us},
          {"lower_bound_us", batch.plan.lower_bound_us},
          {"micro_batches", writer.json_of(batch.plan)},
          {"static_micro_batches", writer.json_of(batch.static_plan)}};
}

std::size_t sequences_of(const BatchPlan& plan) {
  std::size_t count = 0;
  for (const MicroBatch& part : plan.micro_batches) {
    for (const Group& group : part.groups) count += group.sequences.size();
  }
  return count;
}

}  // namespace

OrderedJson json_of(const Study& study, const SequenceSource& source) {
  OrderedJson batches = OrderedJson::array();
  for (std::size_t i = 0; i < study.batches.size(); ++i) {
    batches.push_back(json_of(study.batches[i], BatchWriter(source, i)));
  }
  const auto bounds = [](const Interval& interval) {
    return OrderedJson::array({interval.low, interval.high});
  };
  return {{"mean_time_us", study.mean_time_us},
          {"static_mean_us", study.static_mean_us},
          {"static_degree", study.static_degree},
          {"batch_adaptive_mean_us", study.batch_adaptive_mean_us},
          {"speedup_static", study.speedup_static.mean},
          {"speedup_static_interval", bounds(study.speedup_static)},
          {"speedup_batch_adaptive", study.speedup_batch_adaptive.mean},
          {"speedup_batch_adaptive_interval", bounds(study.speedup_batch_adaptive)},
          {"all_to_all_share", study.exchange_share},
          {"planning_ms_mean", study.planning_ms_mean},
          {"planning_ms_max", study.planning_ms_max},
          {"bucket_token_error_mean", study.bucket_error_mean},
          {"bucket_token_error_max", study.bucket_error_max},
          {"batches", std::move(batches)}};
}

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
