#include "reports/trace.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/timeline_activities.hpp"
#include "reports/json.hpp"

namespace overlaptune {
namespace {

OrderedJson metadata(const char* what, int process, int thread, OrderedJson arguments) {
  return {{"name", what},
          {"ph", "M"},
          {"pid", process},
          {"tid", thread},
          {"args", std::move(arguments)}};
}

/// Facts that are known of activities beside their times.
using Arguments = std::map<const Activity*, OrderedJson>;

OrderedJson event(const Activity& activity, int process, int thread, const Arguments& arguments) {
  OrderedJson event{{"name", activity.name},
                    {"cat", to_string(activity.kind)},
                    {"ph", "X"},
                    {"pid", process},
                    {"tid", thread},
                    {"ts", activity.start.count()},
                    {"dur", (activity.end - activity.start).count()}};
  const auto found = arguments.find(&activity);
  if (found != arguments.end()) event["args"] = found->second;
  return event;
}

/// `bytes`, and those of `tiles` and `ctas` that have a meaning.
void add_size(OrderedJson& arguments, const GroupSize& size) {
  arguments["bytes"] = size.bytes.count;
  if (size.tiles > 0) arguments["tiles"] = size.tiles;
  if (size.ctas > 0) arguments["ctas"] = size.ctas;
}

GroupSize sum_of(std::span<const GroupSize> sizes) {
  GroupSize sum{.ctas = sizes.front().ctas};
  for (const GroupSize& size : sizes) {
    sum.bytes = sum.bytes + size.bytes;
    sum.tiles += size.tiles;
  }
  return sum;
}

/// Adds the sizes of the groups to the collectives of one rank, in the order of their starts.
void add_sizes(Arguments& arguments, std::vector<const Activity*> collectives,
               std::span<const GroupSize> sizes) {
  std::ranges::stable_sort(collectives, {}, &Activity::start);
  if (collectives.size() == sizes.size()) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      OrderedJson& own = arguments[collectives[i]];
      own["group"] = i;
      add_size(own, sizes[i]);
    }
  } else if (collectives.size() == 1 && !sizes.empty()) {  // one kernel takes all groups
    OrderedJson& own = arguments[collectives.front()];
    own["groups"] = sizes.size();
    add_size(own, sum_of(sizes));
  }
}

/// Adds the events of one stream, each on the first of its threads that is free by then.
void add_stream(OrderedJson& events, int process, std::vector<const Activity*> activities,
                const Arguments& arguments, int& next_thread) {
  std::ranges::stable_sort(activities, {}, [](const Activity* activity) {
    return std::pair(activity->start, activity->end);
  });
  const int first_thread = next_thread;
  std::vector<Microseconds> free_at;
  for (const Activity* activity : activities) {
    const auto free = std::find_if(free_at.begin(), free_at.end(),
                                   [&](Microseconds time) { return time <= activity->start; });
    const int lane = static_cast<int>(free - free_at.begin());
    if (free == free_at.end()) {
      const std::string also = lane == 0 ? "" : fmt::format(" ({})", lane + 1);
      const int thread = next_thread++;
      events.push_back(metadata("thread_name", process, thread,
                                {{"name", fmt::format("stream {}{}", activity->stream, also)}}));
      events.push_back(metadata("thread_sort_index", process, thread, {{"sort_index", thread}}));
      free_at.push_back(activity->end);
    } else {
      *free = activity->end;
    }
    events.push_back(event(*activity, process, first_thread + lane, arguments));
  }
}

/// Adds an instant for each group, on a thread of their own.
void add_marks(OrderedJson& events, int process, const TracedRun& run, int thread) {
  if (run.groups.empty()) return;
  events.push_back(metadata("thread_name", process, thread, {{"name", "groups ready"}}));
  events.push_back(metadata("thread_sort_index", process, thread, {{"sort_index", thread}}));
  for (std::size_t i = 0; i < run.groups.size(); ++i) {
    OrderedJson arguments{{"group", run.groups[i].group}};
    if (run.groups.size() == run.sizes.size()) add_size(arguments, run.sizes[i]);
    events.push_back({{"name", fmt::format("group {} ready", run.groups[i].group)},
                      {"cat", "ready"},
                      {"ph", "i"},
                      {"s", "t"},
                      {"pid", process},
                      {"tid", thread},
                      {"ts", run.groups[i].ready.count()},
                      {"args", std::move(arguments)}});
  }
}

/// Adds a run, whose GPUs are the processes from `first_process` on.
void add_run(OrderedJson& events, const TracedRun& run, int first_process, bool named) {
  std::map<int, std::map<int, std::vector<const Activity*>>> ranks;
  std::map<int, std::vector<const Activity*>> collectives;
  for (const Activity& activity : run.activities) {
    if (!is_sound(activity)) continue;
    ranks[activity.rank][activity.stream].push_back(&activity);
    if (activity.kind == ActivityKind::collective) collectives[activity.rank].push_back(&activity);
  }
  Arguments arguments;
  for (const auto& [rank, list] : collectives) add_sizes(arguments, list, run.sizes);
  for (const auto& [rank, streams] : ranks) {
    const int process = first_process + rank;
    const std::string name =
        fmt::format("GPU {}{}{}", rank, named ? ": " : "", named ? run.name : "");
    events.push_back(metadata("process_name", process, 0, {{"name", name}}));
    events.push_back(metadata("process_sort_index", process, 0, {{"sort_index", process}}));
    int next_thread = 0;
    for (const auto& [stream, list] : streams) {
      add_stream(events, process, list, arguments, next_thread);
    }
    if (rank == ranks.begin()->first) add_marks(events, process, run, next_thread);
  }
}

}  // namespace

TracedRun traced_run(const Problem& problem, const Config& config, const Timeline& timeline) {
  return {.name = std::string(to_string(strategy_of(config))),
          .activities = activities_of(timeline, problem.op),
          .groups = timeline.groups,
          .sizes = group_sizes(value_or_throw(Work::make(problem, config)))};
}

std::string chrome_trace(std::span<const TracedRun> runs, std::string_view title) {
  OrderedJson events = OrderedJson::array();
  int first_process = 0;
  for (const TracedRun& run : runs) {
    add_run(events, run, first_process, runs.size() > 1);
    first_process += kMostRanks;
  }
  const OrderedJson document{{"displayTimeUnit", "ns"},
                             {"otherData", {{"title", title}}},
                             {"traceEvents", std::move(events)}};
  // Names of kernels come from other programs and may hold any bytes.
  return document.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string trace_title(const Problem& problem, const Platform& platform, const Config& config,
                        std::string_view source) {
  return fmt::format("{} on {}, {}: {}", to_string(problem), full_name(platform), source,
                     to_string(config));
}

OrderedJson json_of(const BusyTimes& times) {
  return {
      {"gemm_us", times.gemm.count()},   {"collective_us", times.collective.count()},
      {"both_us", times.both.count()},   {"exposed_us", times.exposed.count()},
      {"total_us", times.total.count()}, {"overlap_fraction", json_of(overlap_fraction(times))}};
}

}  // namespace overlaptune
