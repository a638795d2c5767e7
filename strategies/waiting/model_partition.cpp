#include "strategies/waiting/model_partition.hpp"

#include <algorithm>

namespace overlaptune {
namespace {

/// The part of the time that a slowdown adds to a GEMM that works beside `arriving` microseconds of
/// arrivals, per microsecond.
double lost_share(const ArrivalProblem& problem) {
  return 1 - 1 / problem.slowdown;
}

/// End of the chain that starts with the first tile; `last`: when the last piece has arrived.
double first_chain(const ArrivalProblem& problem, double last) {
  return std::min(problem.whole * problem.slowdown, problem.whole + last * lost_share(problem));
}

/// End of the chain that starts when a group has arrived, but for the slowdown until the last
/// arrival, which is the same for all groups.
double chain(const ArrivalProblem& problem, std::size_t number, std::size_t begin,
             std::size_t end) {
  const double arrived = problem.points[end].arrives + static_cast<double>(number) * problem.gap;
  return arrived / problem.slowdown + problem.points[begin].rest;
}

/// When the last of so many groups has arrived.
double last_arrival(const ArrivalProblem& problem, std::size_t groups) {
  return problem.points.back().arrives + static_cast<double>(groups - 1) * problem.gap;
}

double time_of(const ArrivalProblem& problem, double chains, std::size_t groups) {
  const double last = last_arrival(problem, groups);
  return std::max(first_chain(problem, last), chains + last * lost_share(problem));
}

}  // namespace

double waiting_time(const ArrivalProblem& problem, std::span<const std::size_t> ends) {
  double chains = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    chains = std::max(chains, chain(problem, i, begin, ends[i]));
    begin = ends[i];
  }
  return time_of(problem, chains, ends.size());
}

double least_waiting_time(const ArrivalProblem& problem, std::size_t groups) {
  const double last = last_arrival(problem, groups);
  const ArrivalPoint& last_begin = problem.points[problem.points.size() - 2];
  return std::max(first_chain(problem, last), last + last_begin.rest);
}

ArrivalPartition best_arrivals(const ArrivalProblem& problem, int most_groups, double limit) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const std::size_t last = problem.points.size() - 1;
  const auto most = std::min(static_cast<std::size_t>(most_groups), last);
  // The least of the latest chain of so many groups up to a point, and where the last one begins.
  std::vector<std::vector<double>> least{std::vector<double>(last + 1, kNever)};
  std::vector<std::vector<std::size_t>> from{{}};
  least[0][0] = 0;
  ArrivalPartition best{.time = limit};
  std::size_t best_groups = 0;
  for (std::size_t groups = 1; groups <= most; ++groups) {
    if (least_waiting_time(problem, groups) >= best.time) break;  // nor are more groups faster
    const std::vector<double>& before = least.back();
    std::vector<double> now(last + 1, kNever);
    std::vector<std::size_t> begins(last + 1, 0);
    for (std::size_t end = 1; end <= last; ++end) {
      for (std::size_t begin = end; begin-- > 0;) {
        const double chains = std::max(before[begin], chain(problem, groups - 1, begin, end));
        if (chains < now[end]) {
          now[end] = chains;
          begins[end] = begin;
        }
        if (problem.points[begin].must_end) break;
      }
    }
    least.push_back(std::move(now));
    from.push_back(std::move(begins));
    if (least[groups][last] == kNever) continue;
    const double time = time_of(problem, least[groups][last], groups);
    if (time < best.time) {
      best.time = time;
      best_groups = groups;
    }
  }
  for (std::size_t end = last; best_groups > 0; end = from[best_groups--][end]) {
    best.ends.insert(best.ends.begin(), end);
  }
  return best;
}

}  // namespace overlaptune
