#include "reports/trace.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "reports/json.hpp"

namespace overlaptune {
namespace {

OrderedJson metadata(const char* what, int rank, int thread, OrderedJson arguments) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", rank}, {"tid", thread}, {"args", std::move(arguments)}};
}

OrderedJson event(const Activity& activity, int thread) {
  return {{"name", activity.name},
          {"cat", to_string(activity.kind)},
          {"ph", "X"},
          {"pid", activity.rank},
          {"tid", thread},
          {"ts", activity.start.count()},
          {"dur", (activity.end - activity.start).count()}};
}

/// Adds the events of one stream, each on the first of its threads that is free by then.
void add_stream(OrderedJson& events, std::vector<const Activity*> activities, int& next_thread) {
  std::stable_sort(activities.begin(), activities.end(), [](const Activity* a, const Activity* b) {
    return std::pair(a->start, a->end) < std::pair(b->start, b->end);
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
      events.push_back(metadata("thread_name", activity->rank, thread,
                                {{"name", fmt::format("stream {}{}", activity->stream, also)}}));
      events.push_back(
          metadata("thread_sort_index", activity->rank, thread, {{"sort_index", thread}}));
      free_at.push_back(activity->end);
    } else {
      *free = activity->end;
    }
    events.push_back(event(*activity, first_thread + lane));
  }
}

}  // namespace

std::string chrome_trace(const std::vector<Activity>& activities, std::string_view title) {
  std::map<int, std::map<int, std::vector<const Activity*>>> ranks;
  for (const Activity& activity : activities) {
    if (is_sound(activity)) ranks[activity.rank][activity.stream].push_back(&activity);
  }
  OrderedJson events = OrderedJson::array();
  for (const auto& [rank, streams] : ranks) {
    events.push_back(metadata("process_name", rank, 0, {{"name", fmt::format("GPU {}", rank)}}));
    events.push_back(metadata("process_sort_index", rank, 0, {{"sort_index", rank}}));
    int next_thread = 0;
    for (const auto& [stream, of_stream] : streams) add_stream(events, of_stream, next_thread);
  }
  const OrderedJson document{{"displayTimeUnit", "ns"},
                             {"otherData", {{"title", title}}},
                             {"traceEvents", std::move(events)}};
  // Names of kernels come from other programs and may hold any bytes.
  return document.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

OrderedJson json_of(const BusyTimes& times) {
  return {
      {"gemm_us", times.gemm.count()},   {"collective_us", times.collective.count()},
      {"both_us", times.both.count()},   {"exposed_us", times.exposed.count()},
      {"total_us", times.total.count()}, {"overlap_fraction", json_of(overlap_fraction(times))}};
}

}  // namespace overlaptune
