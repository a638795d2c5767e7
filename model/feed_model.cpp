#include "model/feed_model.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace overlaptune {
namespace {

int sms_of(const GemmProbe& probe, int all_sms) {
  return probe.sms > 0 ? probe.sms : all_sms;
}

/// Elements of A and B that a tile loads for each multiply-add.
double appetite(const Tile& tile) {
  return 1.0 / tile.block_m + 1.0 / tile.block_n;
}

/// The slope of a line through the origin, from weighted points.
class Slope {
 public:
  void add(double weight, double x, double y) {
    products_ += weight * x * y;
    squares_ += weight * x * x;
  }
  [[nodiscard]] double value() const {
    constexpr double kMostCorrection = 1.5;
    return squares_ > 0 ? std::clamp(products_ / squares_, 0.0, kMostCorrection) : 0;
  }

 private:
  double products_ = 0;
  double squares_ = 0;
};

/// The feed that slows the GEMM of `probe` by `slowdown`.
Feed feed_of(const GemmModel& generated, const GemmProbe& probe, int sms, double slowdown) {
  constexpr int kIterations = 12;
  double low = 1;
  double high = 4;
  for (int step = 0; step < kIterations; ++step) {
    const double middle = (low + high) / 2;
    (generated.fed_slower(probe, sms, middle) < slowdown ? low : high) = middle;
  }
  return {.times = low, .probed = generated.fed_slower(probe, sms, low)};
}

/// The measurement of a GEMM beside a collective.
struct Seen {
  GemmProbe gemm{};
  double slowdown = 1;
  double collective = 0;  ///< time of the collective
};

}  // namespace

double Feed::gemm_factor(const GemmWork& work, const GemmConstants& constants) const {
  return share > 0 ? std::pow(fed_slower(work, constants, times) / probed, share) : 1;
}

double Feed::collective_factor(const Tile& other) const {
  constexpr double kFarthest = 2;  // ratio to the probed tile
  if (collective_share == 0) return 1;
  const double more = appetite(other) / appetite(tile);
  return std::pow(std::clamp(more, 1 / kFarthest, kFarthest), collective_share);
}

FeedModel FeedModel::fit(std::span<const Measurement> measurements, const GemmModel& generated,
                         int all_sms, const SlowdownOf& slowdown_of) {
  std::map<Tile, int> counts;
  std::map<std::pair<CollectiveProbe, std::int64_t>, std::vector<Seen>> seen;  // by k
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<ConcurrentProbe>(&measurement.probe);
    if (probe == nullptr || probe->gemm.tile.is_library()) continue;
    if (probe->collective.comm_ctas == 0) continue;  // slows the GEMM by taking its SMs
    const auto slowdown = slowdown_of(measurement);
    if (!slowdown || !measurement.collective_time) continue;
    ++counts[probe->gemm.tile];
    seen[{probe->collective, probe->gemm.k}].push_back(
        {probe->gemm, *slowdown, measurement.collective_time->median.count()});
  }
  FeedModel model;
  Slope gemm;
  Slope collective;
  for (const auto& [beside, list] : seen) {
    const Seen& usual = *std::ranges::max_element(
        list, {}, [&](const Seen& each) { return counts[each.gemm.tile]; });
    const Tile& tile = usual.gemm.tile;
    model.usual_[beside] = tile;
    if (!model.probed_ || counts[model.probed_->tile] < counts[tile]) model.probed_ = usual.gemm;
    const Feed feed = feed_of(generated, usual.gemm, sms_of(usual.gemm, all_sms), usual.slowdown);
    const double weight = feed.probed - 1;  // a probe without contention tells nothing
    for (const Seen& each : list) {
      const double longer = generated.fed_slower(each.gemm, sms_of(each.gemm, all_sms), feed.times);
      gemm.add(weight, std::log(longer / feed.probed), std::log(each.slowdown / usual.slowdown));
      collective.add(weight, std::log(appetite(each.gemm.tile) / appetite(tile)),
                     std::log(each.collective / usual.collective));
    }
  }
  if (model.probed_) model.sms_ = sms_of(*model.probed_, all_sms);
  model.share_ = gemm.value();
  model.collective_share_ = collective.value();
  return model;
}

bool FeedModel::is_usual(const ConcurrentProbe& probe) const {
  const auto usual = usual_.find({probe.collective, probe.gemm.k});
  return usual == usual_.end() || probe.gemm.tile == usual->second;
}

Feed FeedModel::operator()(const GemmModel& generated, std::int64_t k, double slowdown) const {
  if (!probed_) return {};
  GemmProbe deep = *probed_;
  deep.k = k;
  Feed feed = feed_of(generated, deep, sms_, slowdown);
  feed.share = share_;
  feed.tile = probed_->tile;
  feed.collective_share = collective_share_;
  return feed;
}

}  // namespace overlaptune
