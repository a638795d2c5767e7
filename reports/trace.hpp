#pragma once
// Traced activities of GPUs, as a trace to look at and as sums.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/activity.hpp"
#include "core/busy.hpp"
#include "core/config/group_sizes.hpp"
#include "core/platform.hpp"
#include "core/timeline.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// A run of one config, to be traced.
struct TracedRun {
  std::string name{};  ///< "signaled"; told where there are several runs
  std::vector<Activity> activities{};
  std::vector<GroupTimes> groups{};  ///< empty where it is not known when groups are ready
  std::vector<GroupSize> sizes{};    ///< of the groups; empty where they are not known
};

/// A predicted or simulated run: the activities of its slowest rank (`activities_of`). The config
/// is legal for the problem.
[[nodiscard]] TracedRun traced_run(const Problem& problem, const Config& config,
                                   const Timeline& timeline);

/// JSON in Chrome's Trace Event format, which Perfetto (ui.perfetto.dev) opens: a process for each
/// GPU of each run, a thread for each stream, an event for each activity with its kind as category.
/// The format requires events of one thread to nest, so activities that overlap within a stream go
/// to further threads. Where a rank has a collective for each group, each has the group, its bytes,
/// tiles and CTAs as arguments; a single one has the sums. An instant marks when a group is ready.
[[nodiscard]] std::string chrome_trace(std::span<const TracedRun> runs, std::string_view title);

/// "gemm_all_reduce:… on sim:h200-nvlink-x8, predicted: chunked …"
[[nodiscard]] std::string trace_title(const Problem& problem, const Platform& platform,
                                      const Config& config, std::string_view source);

/// `gemm_us`, `collective_us`, `both_us`, `exposed_us`, `total_us`, `overlap_fraction`.
[[nodiscard]] OrderedJson json_of(const BusyTimes& times);

}  // namespace overlaptune
