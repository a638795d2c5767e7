#include "planner/lower_bound.hpp"

#include <algorithm>
#include <limits>

namespace overlaptune {
namespace {

double least_fixed(const Rates& rates) {
  double least = rates.fixed(0);
  for (int level = 1; level < rates.levels(); ++level) least = std::min(least, rates.fixed(level));
  return least;
}

}  // namespace

double least_area(const Rates& rates, std::int64_t length) {
  double least = std::numeric_limits<double>::infinity();
  for (int level = 0; level < rates.levels(); ++level) {
    if (rates.capacity(level) < length) continue;
    least = std::min(least, rates.time(length, level) * (1 << level));
  }
  return least;
}

double least_time(const Rates& rates, std::int64_t length) {
  double least = std::numeric_limits<double>::infinity();
  for (int level = 0; level < rates.levels(); ++level) {
    if (rates.capacity(level) < length) continue;
    least = std::min(least, rates.fixed(level) + rates.time(length, level));
  }
  return least;
}

double micro_batch_bound(const Rates& rates, std::span<const Run> runs,
                         std::span<const int> counts) {
  double area = 0;
  double longest = 0;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (counts[run] == 0) continue;
    area += counts[run] * least_area(rates, runs[run].length);
    longest = std::max(longest, least_time(rates, runs[run].length));
  }
  return std::max(least_fixed(rates) + area / rates.gpus(), longest);
}

int fewest_micro_batches(const Rates& rates, std::span<const Run> runs) {
  std::int64_t tokens = 0;
  for (const Run& run : runs) tokens += run.length * run.count;
  const std::int64_t most = std::max<std::int64_t>(1, rates.capacity(rates.levels() - 1));
  return static_cast<int>(std::max<std::int64_t>(1, (tokens + most - 1) / most));
}

double batch_bound(const Rates& rates, std::span<const Run> runs) {
  double area = 0;
  for (const Run& run : runs) area += run.count * least_area(rates, run.length);
  const std::int64_t longest = runs.front().length;
  const double rest = area - least_area(rates, longest);
  const double fixed = least_fixed(rates);
  const int fewest = fewest_micro_batches(rates, runs);
  // The longest sequence runs on some level: its time and its GPU time both count there. Each
  // further micro-batch adds its fixed part to both terms, so the fewest give the least.
  double least = std::numeric_limits<double>::infinity();
  for (int level = 0; level < rates.levels(); ++level) {
    if (rates.capacity(level) < longest) continue;
    const double own = rates.time(longest, level);
    const double spread = fewest * fixed + (rest + own * (1 << level)) / rates.gpus();
    const double alone = (fewest - 1) * fixed + rates.fixed(level) + own;
    least = std::min(least, std::max(spread, alone));
  }
  return least;
}

}  // namespace overlaptune
