#include "core/timeline_activities.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace overlaptune {
namespace {

constexpr int kGemmStream = 0;
constexpr int kCollectiveStream = 1;

}  // namespace

std::vector<Activity> activities_of(const Timeline& timeline, Op op) {
  std::vector<GroupTimes> groups = timeline.groups;
  std::ranges::sort(groups, {}, &GroupTimes::end);
  std::vector<Activity> activities;
  Microseconds begin{};  // where the next part of the GEMM begins
  const auto add_gemm = [&](Microseconds end) {
    if (end <= begin) return;
    activities.push_back({.stream = kGemmStream,
                          .kind = ActivityKind::gemm,
                          .name = "gemm",
                          .start = begin,
                          .end = end});
  };
  // Nothing computes before the first collective that brings rows.
  if (traits_of(op).exchanges_first && !groups.empty()) begin = groups.front().start;
  for (const GroupTimes& group : groups) {
    activities.push_back(
        {.stream = kCollectiveStream,
         .kind = ActivityKind::collective,
         .name = fmt::format("{} of group {}", to_string(collective_of(op)), group.group),
         .start = group.start,
         .end = group.end});
    if (group.exposed <= Microseconds{}) continue;
    add_gemm(std::min(group.end - group.exposed, timeline.gemm_end));
    begin = std::max(begin, group.end);
  }
  add_gemm(timeline.gemm_end);
  return activities;
}

}  // namespace overlaptune
