#pragma once
// Traced activities of GPUs, as a trace to look at and as sums.

#include <string>
#include <string_view>
#include <vector>

#include "core/activity.hpp"
#include "core/busy.hpp"
#include "reports/table.hpp"

namespace overlaptune {

/// JSON in Chrome's Trace Event format, which Perfetto (ui.perfetto.dev) opens: a process for each
/// GPU, a thread for each stream, an event for each activity with its kind as category. The format
/// requires events of one thread to nest, so activities that overlap within a stream go to further
/// threads.
[[nodiscard]] std::string chrome_trace(const std::vector<Activity>& activities,
                                       std::string_view title);

/// `gemm_us`, `collective_us`, `both_us`, `exposed_us`, `total_us`, `overlap_fraction`.
[[nodiscard]] OrderedJson json_of(const BusyTimes& times);

}  // namespace overlaptune
