#pragma once
// The limit on what a probe of a collective may cost. Slow links are probed in fewer sizes.

#include <map>

#include "core/measurement.hpp"

namespace overlaptune {

/// The longest collective that is probed. A worker runs a long one four times, so no probe of one
/// takes much more than half a second.
inline constexpr Microseconds kLongestCollective = us(150'000);

/// Judges by smaller collectives with the same setting that were measured: from one size to the
/// next, time grows with the bytes at most.
class CostLimit {
 public:
  void learn(const Measurement& measurement);

  /// Whether the collective of a probe is expected to take longer than `kLongestCollective`.
  [[nodiscard]] bool forbids(const Probe& probe) const;

 private:
  struct Known {
    Bytes bytes{};
    Microseconds time{};
  };
  std::map<CollectiveProbe, Known> largest_{};  ///< by the setting, a probe of no bytes
};

}  // namespace overlaptune
