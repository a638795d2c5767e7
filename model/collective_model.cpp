#include "model/collective_model.hpp"

#include <algorithm>

namespace overlaptune {
namespace {

/// A large exchange is probed in pieces (run/copies.cpp) that follow one another, as groups do:
/// from four pieces on, a quarter of the bytes takes a quarter of the time but for the drain.
/// Smaller groups lie between that and what a group takes without any bytes.
CopyRow row_of(const Curve& curve) {
  // Flags, a copy and a sum of nothing (on H200, from runs of many groups).
  constexpr double kGap = 8;
  constexpr double kPieces = 4;
  constexpr double kPieceBytes = 1 << 24;
  const double drain = std::max(0.0, curve(0) - kGap);
  std::vector<CurvePoint> points{{.bytes = 1, .time = std::min(curve(0), drain + kGap)}};
  for (const CurvePoint& point : curve.points()) {
    if (point.bytes < kPieces * kPieceBytes) continue;
    points.push_back({point.bytes / kPieces, drain + (point.time - drain) / kPieces});
  }
  if (points.size() == 1) return {curve, drain};
  return {Curve(std::move(points)), drain};
}

}  // namespace

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
  for (const auto& [key, curve] : model.curves_) {
    if (key.transport != Transport::copy_engine || key.comm_ctas > 0) continue;
    model.rows_.emplace(key, row_of(curve));
  }
  return model;
}

const CopyRow* CollectiveModel::find_row(const CollectiveKey& key) const {
  const auto found = rows_.find(key);
  return found == rows_.end() ? nullptr : &found->second;
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
