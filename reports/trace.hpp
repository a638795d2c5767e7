#pragma once
// What the GPUs were seen doing: as a trace to look at, and as sums.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/activity.hpp"
#include "reports/table.hpp"

namespace overlaptune {

/// JSON in Chrome's Trace Event format, which Perfetto (ui.perfetto.dev) opens: a process for each
/// GPU, a thread for each stream, an event for each activity with its kind as category. Events of
/// one thread must nest there: what overlaps within a stream goes to further threads of it.
[[nodiscard]] std::string chrome_trace(const std::vector<Activity>& activities,
                                       std::string_view title);

/// Time in which at least one activity of the kind ran; overlapping ones count once.
struct BusyTimes {
  Microseconds gemm{};
  Microseconds collective{};
  Microseconds both{};
  Microseconds exposed{};  ///< a collective ran and no GEMM did
  Microseconds total{};    ///< from the first start to the last end, of whatever kind
  friend bool operator==(const BusyTimes&, const BusyTimes&) = default;
};

/// Both at once, of the shorter of the two; none where one of them never ran.
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

/// `gemm_us`, `collective_us`, `both_us`, `exposed_us`, `total_us`, `overlap_fraction`.
[[nodiscard]] OrderedJson json_of(const BusyTimes& times);

}  // namespace overlaptune
