#include "reports/trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "reports/json.hpp"

namespace overlaptune {
namespace {

using Interval = std::pair<Microseconds, Microseconds>;

bool is_sound(const Activity& activity) {
  return std::isfinite(activity.start.count()) && std::isfinite(activity.end.count()) &&
         activity.start <= activity.end;
}

/// Disjoint, ascending.
std::vector<Interval> united(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> result;
  for (const Interval& next : intervals) {
    if (result.empty() || result.back().second < next.first) {
      result.push_back(next);
    } else {
      result.back().second = std::max(result.back().second, next.second);
    }
  }
  return result;
}

Microseconds length(const std::vector<Interval>& disjoint) {
  Microseconds sum{};
  for (const auto& [start, end] : disjoint) sum += end - start;
  return sum;
}

Microseconds common_length(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  Microseconds sum{};
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Microseconds start = std::max(a[i].first, b[j].first);
    const Microseconds end = std::min(a[i].second, b[j].second);
    if (start < end) sum += end - start;
    if (a[i].second < b[j].second) {
      ++i;
    } else {
      ++j;
    }
  }
  return sum;
}

BusyTimes busy_times(const std::vector<const Activity*>& activities) {
  std::vector<Interval> gemm;
  std::vector<Interval> collective;
  Microseconds first = activities.front()->start;
  Microseconds last = activities.front()->end;
  for (const Activity* activity : activities) {
    first = std::min(first, activity->start);
    last = std::max(last, activity->end);
    const Interval interval(activity->start, activity->end);
    if (activity->kind == ActivityKind::gemm) gemm.push_back(interval);
    if (activity->kind == ActivityKind::collective) collective.push_back(interval);
  }
  gemm = united(std::move(gemm));
  collective = united(std::move(collective));
  BusyTimes times{.gemm = length(gemm),
                  .collective = length(collective),
                  .both = common_length(gemm, collective),
                  .total = last - first};
  times.exposed = std::max(Microseconds{}, times.collective - times.both);
  return times;
}

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

/// The events of one stream, each on the first of its threads that is free by then.
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
  // Names of kernels are bytes of somebody else.
  return document.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::optional<double> overlap_fraction(const BusyTimes& times) {
  const Microseconds shorter = std::min(times.gemm, times.collective);
  if (shorter <= Microseconds{}) return std::nullopt;
  return times.both / shorter;
}

Busy busy(const std::vector<Activity>& activities) {
  std::map<int, std::vector<const Activity*>> ranks;
  for (const Activity& activity : activities) {
    if (is_sound(activity)) ranks[activity.rank].push_back(&activity);
  }
  Busy result;
  for (const auto& [rank, of_rank] : ranks) {
    result.ranks.push_back({.rank = rank, .times = busy_times(of_rank)});
  }
  for (const auto field : {&BusyTimes::gemm, &BusyTimes::collective, &BusyTimes::both,
                           &BusyTimes::exposed, &BusyTimes::total}) {
    for (const RankBusy& rank : result.ranks) {
      result.mean.*field += rank.times.*field / static_cast<double>(result.ranks.size());
    }
  }
  return result;
}

OrderedJson json_of(const BusyTimes& times) {
  return {
      {"gemm_us", times.gemm.count()},   {"collective_us", times.collective.count()},
      {"both_us", times.both.count()},   {"exposed_us", times.exposed.count()},
      {"total_us", times.total.count()}, {"overlap_fraction", json_of(overlap_fraction(times))}};
}

}  // namespace overlaptune
