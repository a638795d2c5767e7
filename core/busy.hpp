#pragma once
// How long GPUs were seen computing, communicating, and both at once.

#include <optional>
#include <vector>

#include "core/activity.hpp"

namespace overlaptune {

/// Times in which at least one activity of a kind ran; activities that overlap count once.
struct BusyTimes {
  Microseconds gemm{};
  Microseconds collective{};
  Microseconds both{};
  Microseconds exposed{};  ///< a collective ran and no GEMM did
  Microseconds total{};    ///< from the first start to the last end of any kind
  friend bool operator==(const BusyTimes&, const BusyTimes&) = default;
};

/// Time in which both ran, as a fraction of the shorter of the two: 0 to 1. Absent where one of
/// them never ran.
[[nodiscard]] std::optional<double> overlap_fraction(const BusyTimes& times);

struct RankBusy {
  int rank = 0;
  BusyTimes times{};
};

struct Busy {
  std::vector<RankBusy> ranks{};  ///< ranks with at least one activity, ascending
  BusyTimes mean{};               ///< over these ranks
};

/// Busy times of activities in any order. An activity that ends before it starts does not count.
[[nodiscard]] Busy busy(const std::vector<Activity>& activities);

}  // namespace overlaptune
