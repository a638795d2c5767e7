#include "probes/cost_limit.hpp"

namespace overlaptune {
namespace {

const CollectiveProbe* collective_of(const Probe& probe) {
  if (const auto* both = std::get_if<ConcurrentProbe>(&probe)) return &both->collective;
  if (const auto* both = std::get_if<SustainedProbe>(&probe)) return &both->collective;
  return std::get_if<CollectiveProbe>(&probe);
}

CollectiveProbe setting_of(CollectiveProbe probe) {
  probe.bytes = {};
  return probe;
}

}  // namespace

void CostLimit::learn(const Measurement& measurement) {
  const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe);
  if (probe == nullptr) return;
  Known& known = largest_[setting_of(*probe)];
  if (probe->bytes.count > known.bytes.count) known = {probe->bytes, measurement.time.median};
}

bool CostLimit::forbids(const Probe& probe) const {
  const CollectiveProbe* const collective = collective_of(probe);
  if (collective == nullptr) return false;
  const auto found = largest_.find(setting_of(*collective));
  if (found == largest_.end() || found->second.bytes.count >= collective->bytes.count) return false;
  const auto& [bytes, time] = found->second;
  const double growth =
      static_cast<double>(collective->bytes.count) / static_cast<double>(bytes.count);
  return growth * time > kLongestCollective;
}

}  // namespace overlaptune
