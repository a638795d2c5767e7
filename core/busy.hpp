#pragma once
// How long GPUs were seen computing, communicating, and both at once.

#include <optional>
#include <vector>

#include "core/activity.hpp"

namespace overlaptune {

/// Time in which at least one activity of the kind ran; overlapping ones count once.
struct BusyTimes {
  Microseconds gemm{};
  Microseconds collective{};
  Microseconds both{};
  Microseconds exposed{};  ///< a collective ran and no GEMM did
  Microseconds total{};    ///< from the first start to the last end, of whatever kind
  friend bool operator==(const BusyTimes&, const BusyTimes&) = default;
};

/// Both at once, of the shorter of the two: 0 to 1. None where one of them never ran.
[[nodiscard]] std::optional<double> overlap_fraction(const BusyTimes& times);

struct RankBusy {
  int rank = 0;
  BusyTimes times{};
};

struct Busy {
  std::vector<RankBusy> ranks{};  ///< those that did anything, ascending
  BusyTimes mean{};               ///< over these
};

/// Activities in any order. What ends before it starts counts for nothing.
[[nodiscard]] Busy busy(const std::vector<Activity>& activities);

}  // namespace overlaptune
