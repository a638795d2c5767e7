#pragma once
// Collectives alone, in microseconds: one curve for each op, rank count, CTA count and transport.

#include <map>
#include <span>
#include <vector>

#include "core/gpu.hpp"
#include "core/measurement.hpp"
#include "model/curve.hpp"
#include "model/launch_model.hpp"

namespace overlaptune {

/// What a curve holds for: everything that a `CollectiveProbe` says but the bytes.
struct CollectiveKey {
  Collective collective = Collective::all_reduce;
  int ranks = 0;
  int comm_ctas = 0;
  Transport transport = Transport::ring;
  friend auto operator<=>(const CollectiveKey&, const CollectiveKey&) = default;
};

/// Exchanges by copy engines in a row, with all SMs for own parts: while the flags of one are
/// written, the next one is copied.
struct CopyRow {
  /// Time of an exchange that others follow, `drain` included.
  Curve curve;
  /// Time of the last one.
  Curve last;
  /// What each takes after its copies; only the last one's counts.
  double drain = 0;
};

class CollectiveModel {
 public:
  /// The curves hold the time inside a graph: the cost of a replay is taken off. `limits`: what
  /// copies cost where no probe tells.
  /// Error: no collective was probed.
  [[nodiscard]] static Expected<CollectiveModel> fit(std::span<const Measurement> measurements,
                                                     const LaunchModel& launch,
                                                     const GpuLimits& limits);

  /// The probed curve, or null. Rank counts are never extrapolated: rings change with them.
  [[nodiscard]] const Curve* find(const CollectiveKey& key) const;
  /// The same; error: never probed.
  [[nodiscard]] Expected<const Curve*> curve(const CollectiveKey& key) const;

  /// Null but for transport `copy_engine` with all SMs (`comm_ctas` 0).
  [[nodiscard]] const CopyRow* find_row(const CollectiveKey& key) const;

  /// The settings that were probed with CTAs of their own, for this op and rank count.
  [[nodiscard]] std::vector<CollectiveKey> overlap_settings(Collective collective, int ranks) const;

 private:
  std::map<CollectiveKey, Curve> curves_;
  std::map<CollectiveKey, CopyRow> rows_;
};

}  // namespace overlaptune
