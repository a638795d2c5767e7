#include "model/collective_model.hpp"

#include <algorithm>

namespace overlaptune {

Expected<CollectiveModel> CollectiveModel::fit(std::span<const Measurement> measurements,
                                               const LaunchModel& launch) {
  // Even the smallest collective does something after its launch.
  constexpr double kLeastTime = 0.5;
  std::map<CollectiveKey, std::vector<CurvePoint>> points;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe);
    if (probe == nullptr || probe->bytes.count <= 0) continue;
    points[{probe->collective, probe->ranks, probe->comm_ctas, probe->transport}].push_back(
        {static_cast<double>(probe->bytes.count),
         std::max(kLeastTime, measurement.time.median.count() - launch.replay)});
  }
  if (points.empty()) {
    return bad_input(
        "model: no collective is stored for this platform: run `overlaptune probe` first");
  }
  CollectiveModel model;
  for (auto& [key, list] : points) model.curves_.emplace(key, Curve(std::move(list)));
  return model;
}

const Curve* CollectiveModel::find(const CollectiveKey& key) const {
  const auto found = curves_.find(key);
  return found == curves_.end() ? nullptr : &found->second;
}

std::vector<CollectiveKey> CollectiveModel::overlap_settings(Collective collective,
                                                             int ranks) const {
  std::vector<CollectiveKey> settings;
  for (const auto& [key, curve] : curves_) {
    if (key.collective == collective && key.ranks == ranks && key.comm_ctas > 0) {
      settings.push_back(key);
    }
  }
  return settings;
}

}  // namespace overlaptune
