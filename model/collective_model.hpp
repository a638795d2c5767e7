#pragma once
// Collectives alone, in microseconds: one curve for each op, rank count, CTA count and transport.

#include <map>
#include <span>
#include <vector>

#include "core/measurement.hpp"
#include "model/curve.hpp"
#include "model/launch_model.hpp"
#include "model/unprobed_costs.hpp"

namespace overlaptune {

/// The key of a curve: every field of a `CollectiveProbe` except the bytes.
struct CollectiveKey {
  Collective collective = Collective::all_reduce;
  int ranks = 0;
  int comm_ctas = 0;
  Transport transport = Transport::ring;
  friend auto operator<=>(const CollectiveKey&, const CollectiveKey&) = default;
};

/// The times of exchanges by copy engines that follow one another, with all SMs for the rank's own
/// part. While the flags of one exchange are written, the next one is copied.
struct CopyRow {
  /// Time of an exchange that another one follows, with `drain`.
  Curve curve;
  /// Time of the last exchange, with `drain`.
  Curve last;
  /// Time of an exchange after its copies. In a row only that of the last one counts.
  double drain = 0;
};

class CollectiveModel {
 public:
  /// Fits the curves: times inside a graph, without the cost of a replay. `costs`: of copies.
  /// Error: no collective was probed.
  [[nodiscard]] static Expected<CollectiveModel> fit(std::span<const Measurement> measurements,
                                                     const LaunchModel& launch,
                                                     const UnprobedCosts& costs);

  /// The probed curve; null if the key was never probed. Rank counts are never extrapolated,
  /// because rings change with them.
  [[nodiscard]] const Curve* find(const CollectiveKey& key) const;
  /// The curve of a key. Error: the key was never probed.
  [[nodiscard]] Expected<const Curve*> curve(const CollectiveKey& key) const;

  /// The times of exchanges in a row. Null for all keys except transport `copy_engine` with all SMs
  /// (`comm_ctas` 0).
  [[nodiscard]] const CopyRow* find_row(const CollectiveKey& key) const;

  /// The probed keys of this op and rank count that have a fixed number of CTAs (`comm_ctas` > 0).
  [[nodiscard]] std::vector<CollectiveKey> overlap_settings(Collective collective, int ranks) const;

 private:
  std::map<CollectiveKey, Curve> curves_;
  std::map<CollectiveKey, CopyRow> rows_;
};

}  // namespace overlaptune
