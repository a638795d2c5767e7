#include "reports/timeline_figure.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/timeline_activities.hpp"

namespace overlaptune {
namespace {

/// The colour of a bar. Neighbours have two shades, so that they can be told apart.
Paint shade(std::size_t index, Paint even, Paint odd) {
  return index % 2 == 0 ? even : odd;
}

/// The group's number, or `whole` where it is the only one.
std::string label_of(const Timeline& timeline, std::size_t index, std::string_view whole) {
  return timeline.groups.size() == 1 ? std::string(whole)
                                     : fmt::format("{}", timeline.groups[index].group);
}

/// The lane of the GEMM, cut where a group is ready. Where the collective comes first, the
/// GEMM does not make groups ready.
Lane gemm_lane(const Timeline& timeline, Op op) {
  Lane lane{.name = "GEMM"};
  for (const Activity& activity : activities_of(timeline, op)) {
    if (activity.kind != ActivityKind::gemm) continue;
    double begin = activity.start.count();
    const double end = activity.end.count();
    for (std::size_t i = 0; i < timeline.groups.size() && !traits_of(op).exchanges_first; ++i) {
      const double ready = timeline.groups[i].ready.count();
      const double until = std::min(ready, end);
      if (until <= begin) continue;
      lane.bars.push_back({.begin = begin,
                           .end = until,
                           .paint = shade(i, Paint::blue, Paint::light_blue),
                           .label = label_of(timeline, i, "GEMM"),
                           .hint = fmt::format("tiles of group {}, ready at {:.1f} µs",
                                               timeline.groups[i].group, ready)});
      begin = until;
    }
    lane.bars.push_back({.begin = begin, .end = end, .label = "GEMM"});
  }
  return lane;
}

Lane communication_lane(const Timeline& timeline, Op op) {
  Lane lane{.name = "communication"};
  for (std::size_t i = 0; i < timeline.groups.size(); ++i) {
    const GroupTimes& group = timeline.groups[i];
    const auto exposed_from = std::max(group.start, group.end - group.exposed);
    const std::string label = label_of(timeline, i, to_string(collective_of(op)));
    const std::string hint = fmt::format(
        "group {}: ready {:.1f} µs, start {:.1f} µs, end {:.1f} µs, exposed {:.1f} µs", group.group,
        group.ready.count(), group.start.count(), group.end.count(), group.exposed.count());
    const bool mostly_hidden = exposed_from - group.start > group.end - exposed_from;
    lane.bars.push_back({.begin = group.start.count(),
                         .end = exposed_from.count(),
                         .paint = shade(i, Paint::green, Paint::light_green),
                         .label = mostly_hidden ? label : "",
                         .hint = hint});
    lane.bars.push_back({.begin = exposed_from.count(),
                         .end = group.end.count(),
                         .paint = Paint::orange,
                         .label = mostly_hidden ? "" : label,
                         .hint = hint});
  }
  return lane;
}

Microseconds exposed(const Timeline& timeline) {
  Microseconds sum{};
  for (const GroupTimes& group : timeline.groups) sum += group.exposed;
  return sum;
}

Panel panel(const ShownRun& run, const ShownRun& first, Op op) {
  const auto strategy_in = [](const std::string& config) {
    return config.substr(0, config.find(' '));
  };
  // The figure says the first config elsewhere.
  const bool alike = &run != &first && strategy_in(run.config) == strategy_in(first.config);
  std::string title = fmt::format("{}: {:.1f} µs, of which {:.1f} µs exposed communication",
                                  alike ? run.config : strategy_in(run.config), run.time.count(),
                                  exposed(run.timeline).count());
  if (&run != &first) title += fmt::format("; {:.2f} times as long", run.time / first.time);
  Panel panel{.title = std::move(title),
              .lanes = {gemm_lane(run.timeline, op), communication_lane(run.timeline, op)}};
  if (traits_of(op).exchanges_first) {
    std::swap(panel.lanes[0], panel.lanes[1]);
    return panel;
  }
  for (const GroupTimes& group : run.timeline.groups) {
    panel.lanes[0].links.push_back({group.ready.count(), group.start.count()});
  }
  return panel;
}

}  // namespace

Figure timeline_figure(const Problem& problem, const ShownOn& on,
                       const std::vector<ShownRun>& runs) {
  Figure figure{.title = to_string(problem),
                .notes = {fmt::format("on {}{}, {} launch, {}", full_name(on.platform),
                                      is_simulated(on.platform) ? " (simulated machine)" : "",
                                      to_string(on.launch), on.source),
                          runs.front().config},
                .legend = {{{Paint::blue, Paint::light_blue}, "GEMM, group by group"},
                           {{Paint::green, Paint::light_green}, "collective, beside the GEMM"},
                           {{Paint::orange}, "exposed communication"},
                           {{}, "ready to start"}},
                .axis = "time, µs"};
  if (traits_of(problem.op).exchanges_first) {
    figure.legend.front() = {{Paint::blue}, "GEMM"};
    figure.legend.pop_back();
  }
  for (const ShownRun& run : runs) figure.panels.push_back(panel(run, runs.front(), problem.op));
  return figure;
}

}  // namespace overlaptune
