#include "core/busy.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace overlaptune {
namespace {

using Interval = std::pair<Microseconds, Microseconds>;

/// The union of the intervals, as disjoint intervals in ascending order.
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

}  // namespace

std::optional<double> overlap_fraction(const BusyTimes& times) {
  const Microseconds shorter = std::min(times.gemm, times.collective);
  if (shorter <= Microseconds{}) return std::nullopt;
  return std::min(1.0, times.both / shorter);  // the sums are rounded
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

}  // namespace overlaptune
