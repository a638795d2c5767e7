#include "model/contention_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace overlaptune {
namespace {

constexpr double kLargestGemmSlowdown = 1.9;

}  // namespace

ContentionModel ContentionModel::fit(std::span<const Measurement> measurements,
                                     const LaunchModel& launch, const ClockModel& clock,
                                     const CollectiveModel& collectives) {
  // Beside a collective the clock is another one than alone: the two are compared at full clock.
  auto at_full_clock = [&](const Measurement& measurement) {
    return (measurement.time.median.count() - launch.replay) /
           clock.recorded(measurement.conditions);
  };
  std::map<GemmProbe, double> gemms;
  for (const Measurement& measurement : measurements) {
    if (const auto* probe = std::get_if<GemmProbe>(&measurement.probe)) {
      gemms[*probe] = at_full_clock(measurement);
    }
  }
  // Several GEMMs may be probed beside one collective: the factors are their geometric means.
  struct Sum {
    double log_gemm = 0;
    double log_collective = 0;
    int count = 0;
  };
  std::map<CollectiveKey, std::map<std::int64_t, Sum>> sums;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<ConcurrentProbe>(&measurement.probe);
    if (probe == nullptr || !measurement.collective_time) continue;
    const auto gemm = gemms.find(probe->gemm);
    const CollectiveProbe& c = probe->collective;
    const CollectiveKey key{c.collective, c.ranks, c.comm_ctas, c.transport};
    const Curve* curve = collectives.find(key);
    if (gemm == gemms.end() || curve == nullptr) continue;
    const double alone = (*curve)(static_cast<double>(c.bytes.count));
    const double gemm_factor = at_full_clock(measurement) / gemm->second;
    const double collective_factor =
        (measurement.collective_time->median.count() - launch.replay) / alone;
    Sum& sum = sums[key][c.bytes.count];
    sum.log_gemm += std::log(std::clamp(gemm_factor, 1.0, kLargestGemmSlowdown));
    sum.log_collective += std::log(std::max(collective_factor, 1.0));
    ++sum.count;
  }
  ContentionModel model;
  for (const auto& [key, by_bytes] : sums) {
    for (const auto& [bytes, sum] : by_bytes) {
      model.points_[key].push_back({.log_bytes = std::log(static_cast<double>(bytes)),
                                    .slowdown = {std::exp(sum.log_gemm / sum.count),
                                                 std::exp(sum.log_collective / sum.count)}});
    }
  }
  return model;
}

Slowdown ContentionModel::operator()(const CollectiveKey& key, double bytes) const {
  const std::vector<Point>* points = nullptr;
  int nearest = std::numeric_limits<int>::max();
  for (const auto& [probed, list] : points_) {
    const int distance = std::abs(probed.comm_ctas - key.comm_ctas);
    if (probed.collective == key.collective && probed.ranks == key.ranks &&
        probed.transport == key.transport && distance < nearest) {
      nearest = distance;
      points = &list;
    }
  }
  if (points == nullptr) return {};
  const double at = std::log(std::max(bytes, 1.0));
  if (at <= points->front().log_bytes) return points->front().slowdown;
  for (std::size_t i = 1; i < points->size(); ++i) {
    const Point& low = (*points)[i - 1];
    const Point& high = (*points)[i];
    if (at > high.log_bytes) continue;
    const double t = (at - low.log_bytes) / (high.log_bytes - low.log_bytes);
    return {std::lerp(low.slowdown.gemm, high.slowdown.gemm, t),
            std::lerp(low.slowdown.collective, high.slowdown.collective, t)};
  }
  return points->back().slowdown;
}

}  // namespace overlaptune
