#include "model/collective_model.hpp"

#include <algorithm>

namespace overlaptune {
namespace {

/// Bytes of the pieces that a probe of the copy engines is cut into. A wave group is one piece,
/// however large.
constexpr auto kPieceBytes = static_cast<double>(kCopyPieceBytes);

/// The times of exchanges in a row. `gap` is the time to exchange flags with one peer and to start
/// a copy to it. A byte beyond the first piece takes the time of a byte between the two largest
/// probes.
CopyRow row_of(const Curve& curve, int ranks, double gap) {
  const std::span<const CurvePoint> probed = curve.points();
  const double gaps = std::min(curve(0), gap * (ranks - 1));
  const double drain = curve(0) - gaps;
  if (probed.size() < 2 || probed.back().bytes <= 2 * kPieceBytes) {
    return {.curve = curve, .last = curve, .drain = drain};
  }
  const CurvePoint& most = probed.back();
  const CurvePoint& more = probed[probed.size() - 2];
  const double per_byte = (most.time - more.time) / (most.bytes - more.bytes);
  std::vector<CurvePoint> last;
  for (const CurvePoint& point : probed) {
    if (point.bytes <= kPieceBytes) last.push_back(point);
  }
  const double one_piece = last.empty() ? curve(0) : last.back().time;
  const double beyond = most.bytes - (last.empty() ? 0 : last.back().bytes);
  last.push_back({most.bytes, one_piece + beyond * per_byte});
  return {.curve = Curve({{1, curve(0)}, {most.bytes, curve(0) + most.bytes * per_byte}}),
          .last = Curve(std::move(last)),
          .drain = drain};
}

}  // namespace

Expected<CollectiveModel> CollectiveModel::fit(std::span<const Measurement> measurements,
                                               const LaunchModel& launch,
                                               const UnprobedCosts& costs) {
  // The least time of any collective, without its launch.
  constexpr double kLeastTime = 0.5;
  std::map<CollectiveKey, std::vector<CurvePoint>> points;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe);
    // A database may hold collectives that their transport does not carry any more.
    if (probe == nullptr || probe->bytes.count <= 0 ||
        !serves(probe->transport, probe->collective)) {
      continue;
    }
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
    model.rows_.emplace(key, row_of(curve, key.ranks, costs.copy_gap.count()));
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

Expected<const Curve*> CollectiveModel::curve(const CollectiveKey& key) const {
  if (const Curve* found = find(key)) return found;
  return bad_input("model: no " + std::string(to_string(key.collective)) + " on " +
                   std::to_string(key.ranks) + " ranks with " +
                   (key.comm_ctas != kNcclsChoice ? std::to_string(key.comm_ctas) + " CTAs"
                                                  : std::string("NCCL's choice of CTAs")) +
                   " by " + std::string(to_string(key.transport)) +
                   " is stored for this platform: run `overlaptune probe --ranks " +
                   std::to_string(key.ranks) + "` first");
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
