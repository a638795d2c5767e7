#include "planner/cut.hpp"

#include <algorithm>
#include <limits>

#include "planner/lower_bound.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kPlaces = 256;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// A place between two sequences, with sums over the sequences before it.
struct Place {
  std::size_t run = 0;  ///< of the sequence after it
  int inside = 0;       ///< sequences of that run before it
  double area = 0;
  std::int64_t tokens = 0;
};

std::vector<Place> places(const Rates& rates, std::span<const Run> runs) {
  std::size_t sequences = 0;
  for (const Run& run : runs) sequences += static_cast<std::size_t>(run.count);
  const std::size_t step = std::max<std::size_t>(1, sequences / kPlaces);
  std::vector<Place> list;
  list.reserve(sequences / step + 2);
  Place at;
  std::size_t before = 0;
  for (; at.run < runs.size(); ++at.run) {
    const double area = least_area(rates, runs[at.run].length);
    for (at.inside = 0; at.inside < runs[at.run].count; ++at.inside, ++before) {
      if (before % step == 0) list.push_back(at);
      at.area += area;
      at.tokens += runs[at.run].length;
    }
  }
  at.inside = 0;
  list.push_back(at);
  return list;
}

Counts between(const Place& from, const Place& to, std::span<const Run> runs) {
  Counts counts(runs.size(), 0);
  for (std::size_t run = from.run; run < runs.size() && run <= to.run; ++run) {
    counts[run] = run == to.run ? to.inside : runs[run].count;
    if (run == from.run) counts[run] -= from.inside;
  }
  return counts;
}

}  // namespace

std::optional<std::vector<Counts>> best_cut(const Rates& rates, std::span<const Run> runs,
                                            int parts) {
  const std::vector<Place> at = places(rates, runs);
  const std::size_t n = at.size();
  double fixed = rates.fixed(0);
  for (int level = 1; level < rates.levels(); ++level) fixed = std::min(fixed, rates.fixed(level));
  std::vector<double> longest(n, 0);
  for (std::size_t i = 0; i + 1 < n; ++i) longest[i] = least_time(rates, runs[at[i].run].length);
  const auto time = [&](std::size_t from, std::size_t to) {
    if (at[to].tokens - at[from].tokens > rates.capacity(rates.levels() - 1)) return kNever;
    return std::max(fixed + (at[to].area - at[from].area) / rates.gpus(), longest[from]);
  };
  std::vector<double> before(n, kNever);
  std::vector<double> next(n, kNever);
  before[0] = 0;
  std::vector<std::vector<std::size_t>> cuts;
  for (int part = 0; part < parts; ++part) {
    std::vector<std::size_t>& cut = cuts.emplace_back(n, 0);
    for (std::size_t to = 0; to < n; ++to) {
      next[to] = kNever;
      for (std::size_t from = 0; from < to; ++from) {
        const double total = before[from] + time(from, to);
        if (total >= next[to]) continue;
        next[to] = total;
        cut[to] = from;
      }
    }
    std::swap(before, next);
  }
  if (before.back() == kNever) return std::nullopt;
  std::vector<Counts> made(static_cast<std::size_t>(parts));
  std::size_t to = n - 1;
  for (std::size_t part = cuts.size(); part-- > 0;) {
    const std::size_t from = cuts[part][to];
    made[part] = between(at[from], at[to], runs);
    to = from;
  }
  return made;
}

}  // namespace overlaptune
