#include "reports/snapshot.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/products.hpp"

namespace overlaptune {
namespace {

const PlatformRecord* find(const std::vector<PlatformRecord>& platforms, PlatformId id) {
  const auto found = std::ranges::find(
      platforms, id, [](const PlatformRecord& record) { return record.stored.id; });
  return found == platforms.end() ? nullptr : &*found;
}

}  // namespace

std::string Snapshot::platform_name(PlatformId id) const {
  const PlatformRecord* const record = find(platforms, id);
  if (record == nullptr) return "?";
  const Platform& platform = record->stored.platform;
  const std::string name = full_name(platform);
  const auto namesakes = std::ranges::count(
      platforms, name, [](const PlatformRecord& each) { return full_name(each.stored.platform); });
  return namesakes == 1 ? name : fmt::format("{} ({})", name, fingerprint(platform));
}

std::string Snapshot::fingerprint_of(PlatformId id) const {
  const PlatformRecord* const record = find(platforms, id);
  return record == nullptr ? "?" : fingerprint(record->stored.platform);
}

std::vector<LayerGemm> Snapshot::products(PlatformId id, const Problem& problem) const {
  const PlatformRecord* const record = find(platforms, id);
  return record == nullptr ? std::vector<LayerGemm>() : products_of(problem, record->layer_gemms);
}

Snapshot take_snapshot(const Store& store) {
  Snapshot snapshot;
  for (const StoredPlatform& stored : store.platforms()) {
    snapshot.platforms.push_back({.stored = stored,
                                  .measurements = store.measurements(stored.id),
                                  .last_run = store.last_tuning_run(stored.id),
                                  .layer_gemms = store.layer_gemms(stored.id)});
  }
  snapshot.winners = store.winners();
  snapshot.candidates = store.all_candidates();
  snapshot.phase_results = store.all_phase_results();
  return snapshot;
}

void make_anonymous(Snapshot& snapshot) {
  for (PlatformRecord& record : snapshot.platforms) {
    if (!record.last_run) continue;
    record.last_run->provenance.host = "(not shown)";
    record.last_run->provenance.command_line = "(not shown)";
  }
  // The reason why a candidate failed names the rank's host.
  for (auto& candidate : snapshot.candidates) {
    if (!candidate.candidate.reason.empty()) candidate.candidate.reason = "(not shown)";
  }
  for (auto& row : snapshot.phase_results) {
    if (!row.result.reason.empty()) row.result.reason = "(not shown)";
  }
}

}  // namespace overlaptune
