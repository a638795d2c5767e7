#pragma once
// What a report is made from: the rows of a database as values.

#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace overlaptune {

/// One platform with what was probed on it.
struct PlatformRecord {
  StoredPlatform stored{};
  std::vector<Measurement> measurements{};
  std::optional<TuningRun> last_run{};
};

struct Snapshot {
  std::vector<PlatformRecord> platforms{};
  std::vector<StoredWinner> winners{};
  std::vector<StoredCandidate> candidates{};

  /// The platform's name, or "?" where the id is not among the platforms.
  [[nodiscard]] std::string platform_name(PlatformId id) const;
};

/// Everything in the database that a report shows.
[[nodiscard]] Snapshot take_snapshot(const Store& store);

}  // namespace overlaptune
