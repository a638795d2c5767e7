#include "reports/snapshot.hpp"

#include "reports/products.hpp"

namespace overlaptune {

std::string Snapshot::platform_name(PlatformId id) const {
  for (const PlatformRecord& record : platforms) {
    if (record.stored.id == id) return record.stored.platform.name;
  }
  return "?";
}

std::vector<LayerGemm> Snapshot::products(PlatformId id, const Problem& problem) const {
  for (const PlatformRecord& record : platforms) {
    if (record.stored.id == id) return products_of(problem, record.layer_gemms);
  }
  return {};
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
  return snapshot;
}

}  // namespace overlaptune
