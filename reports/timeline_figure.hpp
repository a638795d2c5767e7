#pragma once
// A figure of timelines of one problem: the GEMM and its communication, one run below another.

#include <string>
#include <string_view>
#include <vector>

#include "core/platform.hpp"
#include "core/problem.hpp"
#include "core/timeline.hpp"
#include "reports/figure.hpp"

namespace overlaptune {

/// A run of one config, predicted or measured.
struct ShownRun {
  std::string config;   ///< its canonical line; the first word is the strategy
  Microseconds time{};  ///< time of the whole config
  Timeline timeline{};
};

/// The source of the runs.
struct ShownOn {
  Platform platform{};
  Launch launch = Launch::graph;
  std::string source;  ///< "predicted", "one repetition"
};

/// A panel for each run with two lanes, the GEMM and the communication, in the order in which they
/// depend on each other. The GEMM is cut where a wave group (or chunk) is ready; a link leads from
/// there to the start of the group's collective. Orange is the exposed part of a collective, in
/// which no GEMM runs (`activities_of` says where in the collective it is drawn). The title of
/// a further run says how its time compares with the first. `runs` has at least one run.
[[nodiscard]] Figure timeline_figure(const Problem& problem, const ShownOn& on,
                                     const std::vector<ShownRun>& runs);

}  // namespace overlaptune
