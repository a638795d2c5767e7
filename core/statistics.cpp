#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace overlaptune {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double quantile_of_sorted(std::span<const double> sorted, double q) {
  if (sorted.empty()) return kNone;
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

double quantile(std::span<const double> samples, double q) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_of_sorted(sorted, q);
}

double mean(std::span<const double> samples) {
  if (samples.empty()) return kNone;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double geometric_mean(std::span<const double> samples) {
  if (samples.empty()) return kNone;
  double sum = 0;
  for (const double sample : samples) sum += std::log(sample);
  return std::exp(sum / static_cast<double>(samples.size()));
}

Summary summarize(std::span<const Microseconds> samples) {
  std::vector<double> sorted;
  sorted.reserve(samples.size());
  for (const Microseconds sample : samples) sorted.push_back(sample.count());
  std::sort(sorted.begin(), sorted.end());
  return {.median = us(quantile_of_sorted(sorted, 0.5)),
          .p10 = us(quantile_of_sorted(sorted, 0.1)),
          .p90 = us(quantile_of_sorted(sorted, 0.9)),
          .count = static_cast<int>(samples.size())};
}

}  // namespace overlaptune
