#include "reports/plans/sequences.hpp"

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

}  // namespace overlaptune
