#pragma once
// The rows of a database as values, from which reports are made.

#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"

namespace overlaptune {

/// A platform with its measurements.
struct PlatformRecord {
  StoredPlatform stored{};
  std::vector<Measurement> measurements{};
  std::optional<TuningRun> last_run{};
  std::vector<LayerGemm> layer_gemms{};  ///< products that its problems come from, if known
};

struct Snapshot {
  std::vector<PlatformRecord> platforms{};
  std::vector<StoredWinner> winners{};
  std::vector<StoredCandidate> candidates{};
  std::vector<StoredPhaseResult> phase_results{};

  /// The platform's full name, `sim:h200-nvlink-x8`, with its fingerprint behind it where another
  /// platform has the same one; "?" where the id is not among the platforms.
  [[nodiscard]] std::string platform_name(PlatformId id) const;

  /// The fingerprint of a platform; "?" for an unknown one.
  [[nodiscard]] std::string fingerprint_of(PlatformId id) const;

  /// The products of models that a problem tuned on this platform comes from; empty where they are
  /// not known.
  [[nodiscard]] std::vector<LayerGemm> products(PlatformId id, const Problem& problem) const;
};

/// Everything in the database that a report shows.
[[nodiscard]] Snapshot take_snapshot(const Store& store);

/// Takes the names of hosts and the command lines, which have paths, out of the rows.
void make_anonymous(Snapshot& snapshot);

}  // namespace overlaptune
